import * as vscode from "vscode";

import { link } from "../link";
import type { Run, RunAt, RunFile } from "../protocol";
import { columnFor, type Group } from "./columns";
import { current, isEvents } from "./current";

/** A run in one trace. */
export interface Place {
  readonly uri: string;
  readonly runId: string;
}

/** A place in a document, as the protocol spells it. */
export interface Point {
  readonly textDocument: { readonly uri: string };
  readonly position: { readonly line: number; readonly character: number };
}

/** A run as the tree shows it: the same object for as long as it is shown. */
export interface RunNode {
  run: Run;
}

/** Its part in one file. */
export interface FileNode {
  readonly of: Run;
  readonly file: RunFile;
}

export async function runUnderCursor(editor: vscode.TextEditor): Promise<RunAt | undefined> {
  return (await link.answer("driveTrace/runAt", pointOf(editor))) ?? undefined;
}

/** What a request is about that asks for what is under the cursor. */
export function pointOf(editor: vscode.TextEditor): Point {
  const { line, character } = editor.selection.active;
  return { textDocument: { uri: link.uriOf(editor.document) }, position: { line, character } };
}

/**
 * The run that a command is about: what a lens, the tree or a title's menu gives along, else that
 * of the report or timeline that has the focus, else the one under the cursor. Says so where there
 * is none.
 */
export async function placeOf(given: unknown): Promise<Place | undefined> {
  if (isPlace(given)) {
    return { uri: link.spell(given.uri), runId: given.runId };
  }
  if (isFileNode(given)) {
    return { uri: given.file.uri, runId: given.of.runId };
  }
  if (isRunNode(given)) {
    return placeOfRun(given.run);
  }
  const place = given instanceof vscode.Uri ? undefined : current.place;
  return isPlace(place) ? place : placeUnderCursor(await editorFor(given));
}

/** The editor of a trace that a command is about: of the file that a menu gives along, if it does. */
export async function editorFor(given: unknown): Promise<vscode.TextEditor | undefined> {
  if (!(given instanceof vscode.Uri)) {
    return current.editor;
  }
  const isIts = ({ document }: vscode.TextEditor): boolean => document.uri.toString() === given.toString();
  const { editor } = current;
  return [editor, ...vscode.window.visibleTextEditors].find((each) => each !== undefined && isIts(each)) ??
    (await showLine(given.toString()));
}

async function placeUnderCursor(editor: vscode.TextEditor | undefined): Promise<Place | undefined> {
  const run = editor && (await runUnderCursor(editor));
  if (editor !== undefined && run !== undefined) {
    return { uri: link.uriOf(editor.document), runId: run.runId };
  }
  if (editor === undefined && current.place === undefined) {
    tellOfNoTrace();
  } else {
    void vscode.window.showInformationMessage(vscode.l10n.t("Drive Trace: there is no run here."));
  }
  return undefined;
}

export function tellOfNoTrace(): void {
  void vscode.window.showInformationMessage(vscode.l10n.t("Drive Trace: open a trace first."));
}

/** How people know a file. */
export function nameOf(uri: string): string {
  return vscode.workspace.asRelativePath(link.toUri(uri));
}

async function placeOfRun(run: Run): Promise<Place | undefined> {
  const [first, ...others] = run.files;
  if (first === undefined || others.length === 0) {
    return first && { uri: first.uri, runId: run.runId };
  }
  const items = run.files.map(({ uri, name }) => ({ label: name, uri }));
  const placeHolder = vscode.l10n.t("Which part of the run?");
  const picked = await vscode.window.showQuickPick(items, { placeHolder, title: run.label });
  return picked && { uri: picked.uri, runId: run.runId };
}

/** What views of ours are called in the tabs of VS Code ends so. */
const viewTypes = ["driveTrace.report", "driveTrace.timeline", "driveTrace.allRuns", "driveTrace.reasons"];

/** How a line is shown. */
interface Showing {
  readonly preview?: boolean;
  readonly preserveFocus?: boolean;
  /** The column of the view that asks for it, which nothing covers. */
  readonly kept?: vscode.ViewColumn | undefined;
}

/** Shows a line, from 0, of a trace, where the trace is open already if it is. */
export async function showLine(
  uri: string, line?: number, { kept, preview = false, preserveFocus = false }: Showing = {},
): Promise<vscode.TextEditor> {
  const wanted = link.toUri(uri);
  const place = line === undefined ? {} : { selection: new vscode.Range(line, 0, line, 0) };
  const groups = vscode.window.tabGroups.all.map(groupOf);
  const viewColumn = columnFor(wanted.toString(), groups, kept) ?? vscode.ViewColumn.Beside;
  return vscode.window.showTextDocument(wanted, { preview, preserveFocus, viewColumn, ...place });
}

/** Whether the list of a trace's events is in view, and its text is not. */
export function listsAlone(uri: string): boolean {
  const isIts = (each: vscode.Uri): boolean => each.toString() === link.toUri(uri).toString();
  const isListed = vscode.window.tabGroups.all.some(({ activeTab }) => isEvents(activeTab?.input) && isIts(activeTab.input.uri));
  return isListed && !vscode.window.visibleTextEditors.some(({ document }) => isIts(document.uri));
}

function groupOf({ viewColumn, tabs, activeTab }: vscode.TabGroup): Group<vscode.ViewColumn> {
  const fileOf = (tab: vscode.Tab | undefined): string | undefined =>
    tab?.input instanceof vscode.TabInputText ? tab.input.uri.toString() : undefined;
  const input = activeTab?.input;
  return {
    column: viewColumn,
    files: tabs.map(fileOf).filter((file) => file !== undefined),
    shown: fileOf(activeTab),
    showsView: isEvents(input) || input instanceof vscode.TabInputWebview && viewTypes.some((type) => input.viewType.endsWith(type)),
  };
}

export function isPlace(given: unknown): given is Place {
  return has(given, "uri", "string") && has(given, "runId", "string");
}

function isFileNode(given: unknown): given is FileNode {
  return has(given, "of", "object") && has(given, "file", "object");
}

function isRunNode(given: unknown): given is RunNode {
  return has(given, "run", "object");
}

function has(given: unknown, name: string, type: string): boolean {
  return typeof given === "object" && given !== null && typeof (given as Record<string, unknown>)[name] === type;
}
