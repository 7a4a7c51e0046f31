import * as vscode from "vscode";

import { link } from "../link";
import { components, type Grade, type NextEvent } from "../protocol";
import { type Place, placeOf, runUnderCursor, showLine, traceEditor } from "./places";
import { joined } from "./telling";

/** Appends a component of a run's grade; the server merges it with what was recorded before. */
export async function recordVerdict(given: unknown): Promise<void> {
  const place = await placeOf(given);
  if (place === undefined) {
    return;
  }
  const component = await pickComponent(place);
  const grade = component && (await pickGrade(component));
  if (component === undefined || grade === undefined) {
    return;
  }
  await showLine(place.uri);
  try {
    await link.run("driveTrace.recordGrade", { ...place, changes: { [component]: grade } });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    void vscode.window.showErrorMessage(vscode.l10n.t("Drive Trace: nothing was recorded. {0}", reason));
  }
}

async function pickComponent({ uri, runId }: Place): Promise<string | undefined> {
  const said = await link.ask("driveTrace/runs", {});
  const files = said?.runs.filter((run) => run.runId === runId).flatMap((run) => run.files);
  const recorded = files?.find((file) => file.uri === uri)?.correctness;
  const meanings = {
    mechanical: vscode.l10n.t("Type checks, tests and lint"),
    qa: vscode.l10n.t("The QA run"),
    intent: vscode.l10n.t("Whether it is what was meant"),
  };
  const items = components.map((label) => ({
    label,
    description: recorded?.[label] ?? vscode.l10n.t("not recorded"),
    detail: meanings[label],
  }));
  const placeHolder = vscode.l10n.t("What has been judged? The other components are kept.");
  return (await vscode.window.showQuickPick(items, { placeHolder }))?.label;
}

async function pickGrade(component: string): Promise<Grade | undefined> {
  const items: { label: Grade }[] = [{ label: "pass" }, { label: "fail" }];
  const placeHolder = vscode.l10n.t("How did {0} come out?", component);
  return (await vscode.window.showQuickPick(items, { placeHolder }))?.label;
}

/** Puts an event at the end of a trace, as a snippet where a person has to say something. */
export async function appendEvent(): Promise<void> {
  const editor = traceEditor();
  if (editor === undefined) {
    void vscode.window.showInformationMessage(vscode.l10n.t("Drive Trace: open a trace first."));
    return;
  }
  const uri = link.uriOf(editor.document);
  const runId = (await runUnderCursor(editor))?.runId ?? null;
  const said = await link.ask("driveTrace/nextEvents", { uri, runId });
  const chosen = said && (await pickEvent(said.events, said.label));
  if (!chosen) {
    return;
  }
  const { event, kind } = chosen;
  const made = await link.ask("driveTrace/composeEvent", { uri, runId, event, kind });
  if (!made) {
    return;
  }
  const target = await showLine(uri);
  const { start, end } = made.range;
  const range = new vscode.Range(start.line, start.character, end.line, end.character);
  if (made.snippet === null) {
    await target.edit((edit) => { edit.replace(range, made.text); });
    const last = target.document.lineCount - 1;
    target.revealRange(new vscode.Range(last, 0, last, 0));
  } else {
    await target.insertSnippet(new vscode.SnippetString(made.snippet), range);
  }
}

type EventItem = vscode.QuickPickItem & { readonly chosen?: NextEvent };

async function pickEvent(events: readonly NextEvent[], run: string | null): Promise<NextEvent | undefined> {
  const item = (chosen: NextEvent): EventItem => ({
    label: chosen.event,
    description: joined(chosen.kind, toFillIn(chosen)),
    detail: chosen.description,
    chosen,
  });
  const heading = (label: string): EventItem => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const items = [
    heading(vscode.l10n.t("the run leads to")),
    ...events.filter(({ isNext }) => isNext).map(item),
    heading(vscode.l10n.t("all others")),
    ...events.filter(({ isNext }) => !isNext).map(item),
  ];
  const placeHolder = run === null
    ? vscode.l10n.t("Which event is to be appended?")
    : vscode.l10n.t("Which event of {0} is to be appended?", run);
  return (await vscode.window.showQuickPick(items, { placeHolder, matchOnDescription: true }))?.chosen;
}

function toFillIn({ blanks }: NextEvent): string {
  return blanks.length === 0 ? "" : vscode.l10n.t("to fill in: {0}", blanks.join(", "));
}
