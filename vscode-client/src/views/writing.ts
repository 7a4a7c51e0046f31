import * as vscode from "vscode";

import { link } from "../link";
import { components, type Composed, type Grade, type GradedRun, type NextEvent } from "../protocol";
import { current } from "./current";
import { editorFor, nameOf, placeOf, runUnderCursor, showLine, tellOfNoTrace } from "./places";
import { joined } from "./telling";

/** Appends a component of a run's grade; the server merges it with what was recorded before. */
export async function recordVerdict(given: unknown): Promise<void> {
  const place = await placeOf(given);
  if (place === undefined) {
    return;
  }
  const run = await link.answer("driveTrace/run", place);
  const title = joined(run.label, nameOf(place.uri));
  const component = await pickComponent(run, title);
  const grade = component && (await pickGrade(component, title));
  if (component === undefined || grade === undefined) {
    return;
  }
  await showLine(place.uri);
  const isRecorded = await link.run("driveTrace.recordGrade", { ...place, changes: { [component]: grade } });
  if (isRecorded !== true) {
    throw new Error(vscode.l10n.t("The editor did not take the change."));
  }
}

async function pickComponent({ correctness }: GradedRun, title: string): Promise<string | undefined> {
  const meanings = {
    mechanical: vscode.l10n.t("Type checks, tests and lint"),
    qa: vscode.l10n.t("The QA run"),
    intent: vscode.l10n.t("Whether it is what was meant"),
  };
  const items = components.map((label) => ({
    label,
    description: correctness?.[label] ?? vscode.l10n.t("not recorded"),
    detail: meanings[label],
  }));
  const placeHolder = vscode.l10n.t("What has been judged? The other components are kept.");
  return (await vscode.window.showQuickPick(items, { placeHolder, title }))?.label;
}

async function pickGrade(component: string, title: string): Promise<Grade | undefined> {
  const items: { label: Grade }[] = [{ label: "pass" }, { label: "fail" }];
  const placeHolder = vscode.l10n.t("How did {0} come out?", component);
  return (await vscode.window.showQuickPick(items, { placeHolder, title }))?.label;
}

/** Puts an event at the end of a trace, as a snippet where a person has to say something. */
export async function appendEvent(given: unknown): Promise<void> {
  const place = given instanceof vscode.Uri ? undefined : current.place;
  const editor = place === undefined ? await editorFor(given) : await showLine(place.uri);
  if (editor === undefined) {
    tellOfNoTrace();
    return;
  }
  const uri = link.uriOf(editor.document);
  const runId = place?.runId ?? (await runUnderCursor(editor))?.runId ?? null;
  const said = await link.answer("driveTrace/nextEvents", { uri, runId });
  const chosen = said && (await pickEvent(said.events, said.label, nameOf(uri)));
  if (chosen) {
    const target = await showLine(uri);
    await put(target, await composed(target.document, { uri, runId, event: chosen.event, kind: chosen.kind }));
  }
}

/** An event for a trace as it is now: somebody may be writing to it meanwhile. */
async function composed(document: vscode.TextDocument, wanted: object): Promise<Composed> {
  const ask = (): Promise<Composed | null> => link.answer("driveTrace/composeEvent", wanted);
  const isOfNow = (made: Composed | null): made is Composed => made?.version === document.version;
  const first = await ask();
  const made = isOfNow(first) ? first : await ask();
  if (!isOfNow(made)) {
    throw new Error(vscode.l10n.t("The trace has changed meanwhile."));
  }
  return made;
}

async function put(target: vscode.TextEditor, made: Composed): Promise<void> {
  const { start, end } = made.range;
  const range = new vscode.Range(start.line, start.character, end.line, end.character);
  const isTaken = made.snippet === null
    ? await target.edit((edit) => { edit.replace(range, made.text); })
    : await target.insertSnippet(new vscode.SnippetString(made.snippet), range);
  if (!isTaken) {
    throw new Error(vscode.l10n.t("The editor did not take the change."));
  }
  const last = target.document.lineCount - 1;
  target.revealRange(new vscode.Range(last, 0, last, 0));
}

type EventItem = vscode.QuickPickItem & { readonly chosen?: NextEvent };

async function pickEvent(
  events: readonly NextEvent[], run: string | null, file: string,
): Promise<NextEvent | undefined> {
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
  const options = { placeHolder, matchOnDescription: true, title: joined(run, file) };
  return (await vscode.window.showQuickPick(items, options))?.chosen;
}

function toFillIn({ blanks }: NextEvent): string {
  return blanks.length === 0 ? "" : vscode.l10n.t("to fill in: {0}", blanks.join(", "));
}
