import * as vscode from "vscode";

import { link } from "../link";
import { type Composed, components, type GradedRun, type NextEvent } from "../protocol";
import { current } from "./current";
import { type Grades, pickGrades } from "./grade-picker";
import { editorFor, nameOf, type Place, placeOf, runUnderCursor, showLine, tellOfNoTrace } from "./places";
import { joined } from "./display";

/** How often an event is made anew for a trace that somebody appends to. */
const MOST_TRIES = 10;

/** Appends a run's grade; the server merges it with what was recorded before. */
export async function recordVerdict(given: unknown): Promise<void> {
  const place = await placeOf(given);
  if (place === undefined) {
    return;
  }
  const run = await link.answer("driveTrace/run", place);
  const changes = await pickGrades(run, joined(run.label, nameOf(place.uri)));
  if (changes === undefined) {
    return;
  }
  await record(place, changes, verdictOf(run, { ...run.correctness, ...changes }));
  void vscode.commands.executeCommand("setContext", "driveTrace.hasRecorded", true); // ends a step of the walkthrough
}

/** Appends the grade that counted before the last one of the trace: nothing is taken out of it. */
export async function undoGrade(given: unknown): Promise<void> {
  const place = await placeOf(given);
  const run = place && (await link.answer("driveTrace/run", place));
  if (place === undefined || run === undefined) {
    return;
  }
  const { before } = run;
  if (before === null) {
    void vscode.window.showInformationMessage(vscode.l10n.t("Drive Trace: no grade of this file counts for {0}, so there is none to undo.", run.label));
    return;
  }
  const verdict = verdictOf(run, before);
  const values = components.map((each) => `${each}: ${before[each] ?? vscode.l10n.t("not recorded")}`).join(", ");
  const detail = vscode.l10n.t("A line is appended with the grade before it ({0}). The run is now {1}; it becomes {2}.", values, run.headline, verdict);
  const append = vscode.l10n.t("Append");
  const question = vscode.l10n.t("Undo the last grade of {0}?", run.label);
  if ((await vscode.window.showWarningMessage(question, { modal: true, detail }, append)) === append) {
    await record(place, before, verdict);
  }
}

/** What a grade makes of a run, in words. */
function verdictOf(run: GradedRun, grade: Grades): string {
  return run.verdicts[components.map((each) => grade[each] ?? "").join("/")] ?? "";
}

async function record(place: Place, changes: Grades, verdict: string): Promise<void> {
  const { document } = await showLine(place.uri);
  const inFile = isAsOnDisk(document);
  const done = await link.run("driveTrace.recordGrade", { ...place, changes, inFile });
  if (inFile) {
    const { line = document.lineCount, notes } = done as Appended;
    const told = vscode.l10n.t("Drive Trace: recorded on line {0} of the file: {1}.", line, verdict);
    void tellLine(place.uri, line, [told, ...notes].join(" "), place);
  } else if (done === true) {
    const line = document.lineCount - 1; // the last one is empty
    void tellLine(place.uri, line, vscode.l10n.t("Drive Trace: recorded on line {0}, which is not saved yet: {1}.", line, verdict), place);
  } else {
    throw new Error(vscode.l10n.t("The editor did not take the change."));
  }
}

/** What the server says of an event that it has appended to the file itself. */
interface Appended {
  /** From 1, where it is known. */
  readonly line?: number;
  readonly notes: readonly string[];
}

/** Whether others may be appending to the file, and the editor has nothing to add of its own. */
function isAsOnDisk({ isDirty, uri }: vscode.TextDocument): boolean {
  return uri.scheme === "file" && !isDirty;
}

/** Says what has become of an event, with a way to its line, from 1, and of a grade back. */
async function tellLine(uri: string, line: number | undefined, told: string, graded?: Place): Promise<void> {
  const [show, undo] = [vscode.l10n.t("Show Line"), vscode.l10n.t("Undo the Last Grade…")];
  const actions = [...(line === undefined ? [] : [show]), ...(graded === undefined ? [] : [undo])];
  const picked = await vscode.window.showInformationMessage(told, ...actions);
  if (picked === show) {
    await showLine(uri, (line ?? 1) - 1);
  } else if (picked === undo) {
    await vscode.commands.executeCommand("driveTrace.undoGrade", graded);
  }
}

/** Applies the safe fixes of one rule to a trace, in its editor. */
export async function fixRule(given: unknown): Promise<void> {
  const { uri, rule, kept } = (given ?? {}) as { uri?: unknown; rule?: unknown; kept?: vscode.ViewColumn };
  if (typeof uri !== "string" || typeof rule !== "string") {
    return;
  }
  await showLine(uri, undefined, { kept, preserveFocus: true });
  if ((await link.run("driveTrace.applyAction", { uri, make: "fixAll", rule })) !== true) {
    throw new Error(vscode.l10n.t("The editor did not take the change."));
  }
}

/** Puts an event at the end of a trace, as a snippet where a person has to say something. */
export async function appendEvent(given: unknown): Promise<void> {
  const place = given instanceof vscode.Uri ? undefined : current.place;
  const editor = place === undefined ? await editorFor(given) : await showLine(place.uri, place.line);
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
    await append(target, { uri, runId, event: chosen.event, kind: chosen.kind });
  }
}

interface Wanted extends Pick<NextEvent, "event" | "kind"> {
  readonly uri: string;
  readonly runId: string | null;
}

/** Adds an event to a trace as it is now. Somebody may be writing to it: then it is made anew. */
async function append(target: vscode.TextEditor, wanted: Wanted): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const made: Composed | null = await link.answer("driveTrace/composeEvent", wanted);
    if (made?.version !== target.document.version) {
      continue;
    }
    if (made.snippet === null && isAsOnDisk(target.document)) {
      const { uri } = wanted;
      const { line, notes } = (await link.run("driveTrace.append", { uri, record: made.text.trim() })) as Appended;
      const told = vscode.l10n.t("Drive Trace: appended to the file. As nothing is taken out of a trace, there is nothing to undo.");
      void tellLine(uri, line, [told, ...notes].join(" "));
      return;
    }
    if (await put(target, made)) {
      return;
    }
  }
  throw new Error(vscode.l10n.t("The trace has changed meanwhile."));
}

/** Whether the editor took an event. */
async function put(target: vscode.TextEditor, made: Composed): Promise<boolean> {
  const { start, end } = made.range;
  const range = new vscode.Range(start.line, start.character, end.line, end.character);
  const isTaken = made.snippet === null
    ? await target.edit((edit) => { edit.replace(range, made.text); }) // as it is: a snippet would be indented
    : await target.insertSnippet(new vscode.SnippetString(made.snippet), range);
  if (isTaken) {
    const last = target.document.lineCount - 1;
    target.revealRange(new vscode.Range(last, 0, last, 0));
  }
  return isTaken;
}

type EventItem = vscode.QuickPickItem & { readonly chosen?: NextEvent };

async function pickEvent(
  events: readonly NextEvent[], run: string | null, file: string,
): Promise<NextEvent | undefined> {
  const item = (chosen: NextEvent): EventItem => ({
    label: chosen.event,
    description: joined(chosen.about, toFillIn(chosen)),
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
