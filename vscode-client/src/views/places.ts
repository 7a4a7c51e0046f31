import * as vscode from "vscode";

import { link } from "../link";
import type { Run, RunAt } from "../protocol";
import { columnFor, type Group } from "./columns";

/** A run in one trace. */
export interface Place {
  readonly uri: string;
  readonly runId: string;
}

export const language = "drive-trace";

/** The editor of a trace that a person works in, or saw last where a view has the focus. */
export function traceEditor(): vscode.TextEditor | undefined {
  const active = vscode.window.activeTextEditor;
  const editors = active === undefined ? vscode.window.visibleTextEditors : [active];
  return editors.find((editor) => editor.document.languageId === language);
}

export async function runUnderCursor(editor: vscode.TextEditor): Promise<RunAt | undefined> {
  const { line, character } = editor.selection.active;
  const textDocument = { uri: link.uriOf(editor.document) };
  return (await link.ask("driveTrace/runAt", { textDocument, position: { line, character } })) ?? undefined;
}

/**
 * The run that a command is about: what a lens or the tree gives along, else the one under the
 * cursor. Says so where there is none.
 */
export async function placeOf(given: unknown): Promise<Place | undefined> {
  if (isPlace(given)) {
    return given;
  }
  if (isRun(given)) {
    return placeOfRun(given);
  }
  const editor = traceEditor();
  const run = editor && (await runUnderCursor(editor));
  if (editor !== undefined && run !== undefined) {
    return { uri: link.uriOf(editor.document), runId: run.runId };
  }
  void vscode.window.showInformationMessage(
    editor === undefined
      ? vscode.l10n.t("Drive Trace: open a trace first.")
      : vscode.l10n.t("Drive Trace: there is no run here."),
  );
  return undefined;
}

async function placeOfRun(run: Run): Promise<Place | undefined> {
  const [first, ...others] = run.files;
  if (first === undefined || others.length === 0) {
    return first && { uri: first.uri, runId: run.runId };
  }
  const items = run.files.map(({ uri, name }) => ({ label: name, uri }));
  const placeHolder = vscode.l10n.t("Which part of the run?");
  const picked = await vscode.window.showQuickPick(items, { placeHolder });
  return picked && { uri: picked.uri, runId: run.runId };
}

/** What views of ours are called in the tabs of VS Code ends so. */
const viewTypes = ["driveTrace.report", "driveTrace.timeline"];

/**
 * Shows a line, from 0, of a trace, where the trace is open already if it is; never in `kept`, the
 * column of the view that asks for it.
 */
export async function showLine(
  uri: string, line?: number, preview = false, kept?: vscode.ViewColumn,
): Promise<vscode.TextEditor> {
  const wanted = link.toUri(uri);
  const place = line === undefined ? {} : { selection: new vscode.Range(line, 0, line, 0) };
  const groups = vscode.window.tabGroups.all.map(groupOf);
  const viewColumn = columnFor(wanted.toString(), groups, kept) ?? vscode.ViewColumn.Beside;
  return vscode.window.showTextDocument(wanted, { preview, viewColumn, ...place });
}

function groupOf({ viewColumn, tabs, activeTab }: vscode.TabGroup): Group<vscode.ViewColumn> {
  const fileOf = (tab: vscode.Tab | undefined): string | undefined =>
    tab?.input instanceof vscode.TabInputText ? tab.input.uri.toString() : undefined;
  const input = activeTab?.input;
  return {
    column: viewColumn,
    files: tabs.map(fileOf).filter((file) => file !== undefined),
    shown: fileOf(activeTab),
    showsView: input instanceof vscode.TabInputWebview && viewTypes.some((type) => input.viewType.endsWith(type)),
  };
}

export function isPlace(given: unknown): given is Place {
  return has(given, "uri", "string") && has(given, "runId", "string");
}

function isRun(given: unknown): given is Run {
  return has(given, "runId", "string") && has(given, "files", "object");
}

function has(given: unknown, name: string, type: string): boolean {
  return typeof given === "object" && given !== null && typeof (given as Record<string, unknown>)[name] === type;
}
