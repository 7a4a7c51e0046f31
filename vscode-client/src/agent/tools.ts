import * as vscode from "vscode";

import { link } from "../link";
import type { GradedRun } from "../protocol";

/** What every answer says that has no correctness signal to show. */
const notGood = "This does not say that the run is good: only a recorded grade that nothing qualifies does, and drive_trace_verdict says whether there is one.";

/** What an agent gives: a trace by its path, and a run where the trace has several. */
interface Input {
  readonly file: string;
  readonly runId?: string;
  readonly event?: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** The trace and the run that an agent means. */
interface Subject {
  readonly uri: string;
  readonly runId: string;
}

type Answer = (input: Input) => Promise<object>;

/** The tools of `languageModelTools` in package.json, by their names there. */
const answers: Readonly<Record<string, Answer>> = {
  drive_trace_next_events: async (input) => {
    const { uri, runId } = await subjectOf(input);
    const said = await link.answer("driveTrace/nextEvents", { uri, runId });
    const next = (said?.events ?? []).filter(({ isNext }) => isNext);
    return { runId, next: next.map(({ event, about, description, blanks }) => ({ event, about, description, youGive: blanks })) };
  },
  drive_trace_append_event: async ({ file, event, fields = {}, ...named }) => {
    const { uri, runId } = await subjectOf({ file, ...named });
    const document = await documentOf(file);
    if (document.isDirty) {
      throw new Error("the trace has changes in the editor that are not saved; a person has to save them first");
    }
    const done = await link.run("driveTrace.emit", { uri, runId, event, fields }) as { readonly record: string };
    await shown(document, done.record);
    return done;
  },
  drive_trace_check: async ({ file }) => {
    const document = await documentOf(file);
    const { items = [] } = await link.answer("textDocument/diagnostic", { textDocument: { uri: link.uriOf(document) } });
    const findings = items.map(({ range, severity, code, message }) => ({ line: range.start.line + 1, severity: severities[severity] ?? "hint", rule: code, message }));
    return { findings, note: findings.length === 0 ? `Nothing was found. ${notGood}` : notGood };
  },
  drive_trace_verdict: async (input) => {
    const { correctness, ...told } = await runOf(input);
    return { ...verdictOf(told), recorded: correctness, whatHappened: told.outline };
  },
  drive_trace_why_halted: async (input) => {
    const run = await runOf(input);
    const halts = run.outline.filter((sentence) => sentence.startsWith("Halted"));
    return { runId: run.runId, halted: halts.length > 0 ? halts.join(" ") : "No halt is recorded: no assumption was recorded as falsified.", whatHappened: run.outline };
  },
};

const severities = ["", "error", "warning", "information", "hint"];

/** Gives the agents of the editor the same answers as its views, where the editor has agents. */
export function registerTools(need: () => Promise<void>): vscode.Disposable {
  const { lm } = vscode as { lm?: Partial<typeof vscode.lm> };
  if (lm?.registerTool === undefined) {
    return new vscode.Disposable(() => undefined);
  }
  const tools = Object.entries(answers).map(([name, answer]) => vscode.lm.registerTool<Input>(name, {
    prepareInvocation: ({ input }) => (name === "drive_trace_append_event" ? confirmed(input) : undefined),
    invoke: async ({ input }) => {
      await need();
      return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(JSON.stringify(await answer(input)))]);
    },
  }));
  return vscode.Disposable.from(...tools);
}

function confirmed({ event = "", file, fields = {} }: Input): vscode.PreparedToolInvocation {
  const message = new vscode.MarkdownString();
  message.appendText(vscode.l10n.t("{0} to {1}, with {2}. Nothing is taken out of a trace again.", event, file, JSON.stringify(fields)));
  return { confirmationMessages: { title: vscode.l10n.t("Append an event?"), message } };
}

/** The verdict, and in words that it is no praise where nothing earns that. */
function verdictOf({ runId, headline, earned, caveats }: Omit<GradedRun, "correctness">): object {
  return { runId, verdict: headline, isEarnedCorrect: earned, caveats, note: earned ? "CORRECT by its recorded grade, with nothing that qualifies it." : notGood };
}

async function runOf(input: Input): Promise<GradedRun> {
  return link.answer("driveTrace/run", await subjectOf(input));
}

/** Waits until the editor has read what was appended to the file: the next answer is about the text that it has, and its watcher may be late. */
async function shown(document: vscode.TextDocument, record: string): Promise<void> {
  const patience = 10_000; // milliseconds; the event is in the file in any case
  const isShown = (): boolean => document.getText().includes(record);
  await new Promise<void>((resolve) => {
    const done = (): void => { watching.dispose(); clearTimeout(late); resolve(); };
    const watching = vscode.workspace.onDidChangeTextDocument((change) => { if (change.document === document && isShown()) { done(); } });
    const late = setTimeout(done, patience);
    if (isShown()) { done(); }
  });
}

/** The run of that id, else the only one of the trace. */
async function subjectOf({ file, runId }: Input): Promise<Subject> {
  const uri = link.spell(link.uriOf(await documentOf(file)));
  if (runId !== undefined) {
    return { uri, runId };
  }
  const { runs } = await link.answer("driveTrace/runs", { again: false });
  const here = runs.filter(({ files }) => files.some((each) => each.uri === uri)).map((run) => run.runId);
  const [only, ...others] = here;
  if (only === undefined || others.length > 0) {
    throw new Error(only === undefined ? "the trace has no run" : `the trace has several runs; name one as runId: ${here.join(", ")}`);
  }
  return { uri, runId: only };
}

/** A trace of the workspace, open for the server; agents read no other file by these tools. */
async function documentOf(file: string): Promise<vscode.TextDocument> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const candidates = [vscode.Uri.file(file), ...folders.map(({ uri }) => vscode.Uri.joinPath(uri, file))];
  for (const uri of candidates) {
    const isThere = await Promise.resolve(vscode.workspace.fs.stat(uri)).then(() => true, () => false);
    if (isThere && vscode.workspace.getWorkspaceFolder(uri) !== undefined) {
      const document = await vscode.workspace.openTextDocument(uri);
      return document.languageId === "drive-trace" ? document : vscode.languages.setTextDocumentLanguage(document, "drive-trace");
    }
  }
  throw new Error(`there is no trace ${file} in the workspace`);
}
