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
    const { group, icon = vscode.ThemeIcon.Folder, runs } = node;
    const description = runs.length === 1 ? vscode.l10n.t("1 run") : vscode.l10n.t("{0} runs", runs.length);
    return row(group, Expanded, { description, iconPath: icon, id: `\n${group}`, contextValue: "driveTrace.group" });
  }
  if ("symbol" in node) {
    const { name, detail, kind, children } = node.symbol;
    const isFolded = kind === Slice && children.some((each) => each.kind === Dispatch);
    const iconPath = new vscode.ThemeIcon(kind === Slice ? "symbol-namespace" : "symbol-class");
    return row(name, isFolded ? Collapsed : None, { description: detail, iconPath });
  }
  if ("run" in node) {
    return runItem(node.run);
  }
  const { of, file } = node;
  const id = [keyOf(of), file.uri].join("\n");
  const iconPath = vscode.ThemeIcon.File;
  return row(file.name, Collapsed, { description: findings(file.findings), iconPath, id, contextValue: "driveTrace.runFile" });
}

function row(label: string, state: vscode.TreeItemCollapsibleState, rest: Partial<vscode.TreeItem>): vscode.TreeItem {
  return Object.assign(new vscode.TreeItem(label, state), rest);
}

/** Runs of one id are apart in traces from outside the workspace. */
export function keyOf(run: Run): string {
  return [run.runId, run.files[0]?.uri].join("\n");
}

function runItem(run: Run): vscode.TreeItem {
  const last = dayOf(run.last, vscode.env.language);
  const tooltip = [
    run.label, run.headline, ...run.outline, ...run.caveats, findings(run.findings),
    run.last && last && vscode.l10n.t("Last event: {0}", new Date(run.last).toLocaleString(vscode.env.language)),
    ...run.files.map(({ name }) => name),
  ];
  const caveats = vscode.Uri.from({ scheme: caveatsScheme, path: `/${run.caveats.length}` });
  return row(run.label, Collapsed, {
    description: joined(...toldOf(run), last, findings(run.findings), run.folder),
    accessibilityInformation: { label: [run.label, run.headline, run.short, last].filter(Boolean).join(", ") },
    tooltip: tooltip.filter(Boolean).join("\n"),
    iconPath: iconOf(run),
    id: keyOf(run),
    contextValue: "driveTrace.run",
    ...(run.caveats.length > 0 ? { resourceUri: caveats } : {}),
  });
}

export function iconOf(run: Run): vscode.ThemeIcon {
  const { icon, color } = lookOf(run);
  return new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
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
