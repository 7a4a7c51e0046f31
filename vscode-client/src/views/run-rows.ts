import * as vscode from "vscode";

import { link } from "../link";
import type { Run } from "../protocol";
import type { FileNode, RunNode } from "./places";
import { dayOf, joined, lookOf, toldOf } from "./display";

/** The runs of a project, of a verdict or of a month, under what these have in common. */
export interface GroupNode {
  readonly group: string;
  readonly icon?: vscode.ThemeIcon;
  readonly runs: readonly RunNode[];
}

/** A slice or dispatch of a run, as the outline of a file has it. */
export interface PartNode {
  readonly within: FileNode;
  readonly symbol: vscode.DocumentSymbol;
}

export type Node = GroupNode | RunNode | FileNode | PartNode;

/** What a run consists of: its slices with their dispatches, or all dispatches. */
export type Parts = "slices" | "dispatches";

const { Namespace: Slice, Class: Dispatch } = vscode.SymbolKind;
const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;

/** The parts of a run in a file, from the outline that the editor shows. */
export async function partsOf(within: FileNode, parts: Parts): Promise<PartNode[]> {
  const uri = link.toUri(within.file.uri);
  await vscode.workspace.openTextDocument(uri); // else the server is not told of it
  const found = await vscode.commands.executeCommand<vscode.DocumentSymbol[] | undefined>("vscode.executeDocumentSymbolProvider", uri);
  const run = found?.find(({ kind, range }) => kind === vscode.SymbolKind.Module && range.start.line === within.file.line);
  return partsIn(within, run, parts);
}

export function partsIn(within: FileNode, of: vscode.DocumentSymbol | undefined, parts: Parts): PartNode[] {
  return (of?.children ?? []).flatMap((symbol) => {
    if (symbol.kind === Slice && parts === "dispatches") {
      return partsIn(within, symbol, parts);
    }
    return [Slice, Dispatch].includes(symbol.kind) ? [{ within, symbol }] : [];
  });
}

export function itemOf(node: Node): vscode.TreeItem {
  if ("group" in node) {
    return groupItem(node);
  }
  if ("symbol" in node) {
    return partItem(node);
  }
  return "file" in node ? fileItem(node) : runItem(node.run);
}

/** Runs of one id are apart in traces from outside the workspace. */
export function keyOf(run: Run): string {
  return [run.runId, run.files[0]?.uri].join("\n");
}

function groupItem({ group, icon, runs }: GroupNode): vscode.TreeItem {
  const item = new vscode.TreeItem(group, Expanded);
  item.iconPath = icon ?? vscode.ThemeIcon.Folder;
  item.description = runs.length === 1 ? vscode.l10n.t("1 run") : vscode.l10n.t("{0} runs", runs.length);
  item.id = `\n${group}`;
  item.contextValue = "driveTrace.group";
  return item;
}

function runItem(run: Run): vscode.TreeItem {
  const item = new vscode.TreeItem(run.label, Collapsed);
  const last = dayOf(run.last, vscode.env.language);
  item.iconPath = iconOf(run);
  item.description = joined(...toldOf(run), last, findings(run.findings), run.folder);
  item.accessibilityInformation = { label: [run.label, run.headline, run.short, last].filter(Boolean).join(", ") };
  item.tooltip = [
    run.label, run.headline, ...run.outline, ...run.caveats, findings(run.findings),
    run.last && last && vscode.l10n.t("Last event: {0}", new Date(run.last).toLocaleString(vscode.env.language)),
    ...run.files.map(({ name }) => name),
  ].filter(Boolean).join("\n");
  item.contextValue = "driveTrace.run";
  item.id = keyOf(run);
  if (run.caveats.length > 0) {
    item.resourceUri = vscode.Uri.from({ scheme: caveatsScheme, path: `/${run.caveats.length}` });
  }
  return item;
}

export function iconOf(run: Run): vscode.ThemeIcon {
  const { icon, color } = lookOf(run);
  return new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
}

function fileItem({ of, file }: FileNode): vscode.TreeItem {
  const item = new vscode.TreeItem(file.name, Collapsed);
  item.iconPath = vscode.ThemeIcon.File;
  item.contextValue = "driveTrace.runFile";
  item.description = findings(file.findings);
  item.id = [keyOf(of), file.uri].join("\n");
  return item;
}

function partItem({ symbol }: PartNode): vscode.TreeItem {
  const isSlice = symbol.kind === Slice;
  const item = new vscode.TreeItem(symbol.name, isSlice && symbol.children.some(({ kind }) => kind === Dispatch) ? Collapsed : None);
  item.iconPath = new vscode.ThemeIcon(isSlice ? "symbol-namespace" : "symbol-class");
  item.description = symbol.detail;
  return item;
}

const caveatsScheme = "drive-trace-caveats";

/** A number behind each run whose verdict may be worth less than it seems: so many reasons. */
export const caveatBadges: vscode.FileDecorationProvider = {
  provideFileDecoration: ({ scheme, path }) => {
    if (scheme !== caveatsScheme) {
      return undefined;
    }
    const count = Number(path.slice(1));
    const told = count === 1 ? vscode.l10n.t("1 caveat") : vscode.l10n.t("{0} caveats", count);
    return new vscode.FileDecoration(count > 9 ? "9+" : String(count), told);
  },
};

function findings(count: number | null): string {
  if (count === null || count === 0) {
    return "";
  }
  return count === 1 ? vscode.l10n.t("1 finding") : vscode.l10n.t("{0} findings", count);
}
