import * as path from "node:path";

import * as vscode from "vscode";

import { plain, type Change } from "./words";
import type { Subject } from "./program";

const elsewhere = "{**/node_modules/**,**/.venv/**,**/venv/**,**/.git/**}";
const most = 60;

interface Item extends vscode.QuickPickItem {
  /** What it stands for; without one, a person looks for it. */
  readonly uri?: vscode.Uri;
  readonly isRepository?: boolean;
}

/** A file with acceptance criteria, or the folder of a case, of the workspace or from elsewhere. */
export async function pickAcceptance({ uri, label }: Subject): Promise<string | undefined> {
  const files = await near(uri, "**/*[aA][cC][cC][eE][pP][tT][aA][nN][cC][eE]*.md");
  const items = await Promise.all(files.map(async (file) => {
    const folder = vscode.Uri.joinPath(file, "..");
    const isCase = file.path.endsWith("/acceptance.md") && (await exists(vscode.Uri.joinPath(folder, "case.json")));
    return isCase ? { ...item(folder), description: vscode.l10n.t("a case") } : item(file);
  }));
  const placeHolder = vscode.l10n.t("What was meant? Acceptance criteria, or the folder of a case.");
  return (await pickOrBrowse(items, placeHolder, label, true))?.uri.fsPath;
}

/** What was changed: commits of a repository of the workspace, or a diff. */
export async function pickChange({ uri, label }: Subject, memory: vscode.Memento): Promise<Change | undefined> {
  const folders = vscode.workspace.workspaceFolders?.map((each) => each.uri) ?? [];
  const starts = [vscode.Uri.joinPath(uri, ".."), ...folders];
  const found = await Promise.all(starts.map((each) => repositoryOf(each)));
  const repositories = new Map(found.flatMap((each) => (each === undefined ? [] : [[each.toString(), each]])));
  const diffs = await near(uri, "**/*.{diff,patch}");
  const items = [
    ...[...repositories.values()].map((each): Item => ({
      ...item(each),
      label: vscode.l10n.t("Commits of {0}…", plain(path.basename(each.fsPath))),
      description: plain(each.fsPath),
      isRepository: true,
    })),
    ...diffs.map(item),
  ];
  const placeHolder = vscode.l10n.t("What was changed? A range of commits, or a file with a diff.");
  const picked = await pickOrBrowse(items, placeHolder, label, false);
  if (picked?.isRepository !== true) {
    return picked && { diff: picked.uri.fsPath };
  }
  const range = await askRange(picked.uri, label, memory);
  return range === undefined ? undefined : { repo: picked.uri.fsPath, range };
}

async function askRange(repository: vscode.Uri, title: string, memory: vscode.Memento): Promise<string | undefined> {
  const key = `range.${repository.toString()}`;
  const range = await vscode.window.showInputBox({
    title,
    prompt: vscode.l10n.t("The range of commits, such as main..HEAD"),
    value: memory.get(key, "main..HEAD"),
    ignoreFocusOut: true,
    validateInput: (value) =>
      /^[^-\s]\S*?\.\.\S+$/.test(value.trim()) ? undefined : vscode.l10n.t("Two commits with two dots between them are expected."),
  });
  await memory.update(key, range);
  return range?.trim();
}

async function pickOrBrowse(
  items: readonly Item[], placeHolder: string, title: string, canSelectFolders: boolean,
): Promise<(Item & { readonly uri: vscode.Uri }) | undefined> {
  const browse: Item = { label: vscode.l10n.t("Browse…"), alwaysShow: true };
  const picked = await vscode.window.showQuickPick([...items, browse], { placeHolder, title, matchOnDescription: true });
  if (picked !== browse) {
    return picked as (Item & { readonly uri: vscode.Uri }) | undefined;
  }
  const [uri] = (await vscode.window.showOpenDialog({ canSelectFiles: true, canSelectFolders })) ?? [];
  return uri && { ...item(uri), uri };
}

function item(uri: vscode.Uri): Item & { readonly uri: vscode.Uri } {
  return { label: plain(vscode.workspace.asRelativePath(uri)), uri };
}

/** Files of the workspace, those first that have most of their path in common with the trace. */
async function near(trace: vscode.Uri, glob: string): Promise<vscode.Uri[]> {
  const own = trace.path.split("/");
  const shared = (uri: vscode.Uri): number => {
    const apart = uri.path.split("/").findIndex((name, at) => name !== own[at]);
    return apart < 0 ? own.length : apart;
  };
  const found = await vscode.workspace.findFiles(glob, elsewhere, most);
  return found.toSorted((one, other) => shared(other) - shared(one) || one.path.localeCompare(other.path));
}

/** The folder that has git's data, from a folder upwards. */
async function repositoryOf(folder: vscode.Uri): Promise<vscode.Uri | undefined> {
  if (await exists(vscode.Uri.joinPath(folder, ".git"))) {
    return folder;
  }
  const parent = vscode.Uri.joinPath(folder, "..");
  return parent.path === folder.path ? undefined : repositoryOf(parent);
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  return Promise.resolve(vscode.workspace.fs.stat(uri)).then(() => true, () => false);
}
