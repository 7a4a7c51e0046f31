/** The server's own requests: `lsp/rpc/messages.py` and `features/` say what each member means. */

export type Verdict = "correct" | "incorrect" | "not-computable";
export type Grade = "pass" | "fail";
export const components = ["mechanical", "qa", "intent"] as const;
export type Component = (typeof components)[number];
export type Correctness = Record<Component, Grade | null>;

/** A run in words; `label` is its id as it may be shown. */
export interface Told {
  runId: string;
  label: string;
  verdict: Verdict;
  /** CORRECT over all files, and nothing qualifies that: only then is it green. */
  earned: boolean;
  headline: string;
  title: string;
  /** What happened in it, in a few words, and in sentences. */
  short: string;
  outline: string[];
  /** Why the verdict may be worth less than it seems, a sentence each. */
  caveats: string[];
}

export interface RunFile {
  uri: string;
  name: string;
  line: number;
  events: number;
  /** Null where nobody has counted them. */
  findings: number | null;
  correctness: Correctness | null;
}

export interface Run extends Told {
  /** Of the workspace, where that has several. */
  folder: string | null;
  /** The moment of its last event, if that has one. */
  last: string | null;
  findings: number | null;
  files: RunFile[];
}

export interface Runs {
  runs: Run[];
  /** Traces that are not read yet. */
  unread: number;
  /** All verdicts in a few words, and what could not be read, a sentence each. */
  summary: string[];
}

/** A run with the grade that counts over all its files. */
export interface GradedRun extends Told {
  correctness: Correctness | null;
  /** The grade that counted before the last one of this file; null where another file decides. */
  before: Correctness | null;
  /** The verdict of each grade, by its components: `pass/fail/` has no intent. */
  verdicts: Record<string, string>;
}

export interface RunAt extends Told {
  /** What this file alone says, where that differs. */
  alone: string | null;
  card: string;
}

export interface ReportBody {
  title: string;
  body: string;
  style: string;
  /** The traces that the links of the body are numbered by. */
  files: BodyFile[];
}

export interface BodyFile {
  uri: string;
  /** The line of each record, from 0; null where records and lines are the same. */
  starts: number[] | null;
  /** The run that a link of the page of all runs leads to. */
  runId?: string;
}

export interface ReportPage {
  title: string;
  html: string;
}

/** A run for the viewers of other tools. */
export interface ReportFile {
  title: string;
  text: string;
}

/** Whether the candidate's runs are better than the baseline's. */
export interface Compared {
  answer: "better" | "worse" | "cannot-tell" | "not-comparable";
  title: string;
  body: string;
  style: string;
  /** What has to be alike, and nobody can verify. */
  unverified: string[];
}

export interface NextEvent {
  event: string;
  /** By which this event is asked for, among several of its name. */
  kind: string | null;
  /** The same for people: its kind, or the dispatch or round that it belongs to. */
  about: string | null;
  isNext: boolean;
  description: string;
  blanks: string[];
}

export interface NextEvents {
  runId: string | null;
  label: string | null;
  events: NextEvent[];
}

export interface Composed {
  version: number;
  range: { start: Place; end: Place };
  snippet: string | null;
  text: string;
  blanks: string[];
}

export type Severity = "error" | "warning" | "information" | "hint";

/** A line of a trace; what comes from the trace is safe to show as text. What is not there is not known. */
export interface EventRow {
  /** From 0. */
  line: number;
  ts?: string;
  event: string;
  status: "valid" | "unknown" | "invalid";
  run?: string;
  slice?: string;
  dispatchId?: string;
  /** Its name. */
  dispatch?: string;
  round?: number;
  words: string;
  outcome?: string;
  /** From start to end by the timestamps, and as the end claims. */
  clockMs?: number;
  claimedMs?: number;
  findings?: number;
  /** The worst of the findings. */
  severity?: Severity;
}

export interface EventRows {
  /** The lines of the trace. */
  total: number;
  /** Where the next page begins. */
  next: number | null;
  rows: EventRow[];
}

export interface EventField {
  name: string;
  value: string;
  meaning: string | null;
  /** The line that starts what it names. */
  leadsTo: number | null;
  /** Whether every event has it. */
  isEnvelope: boolean;
}

export interface EventDetails {
  line: number;
  event: string;
  run: string | null;
  prose: string;
  fields: EventField[];
  findings: { severity: Severity; rule: string; message: string }[];
  text: string;
}

interface Diagnostic {
  range: { start: Place };
  severity: number;
  code: string;
  message: string;
}

interface Place {
  line: number;
  character: number;
}

export interface Changed {
  /** The trace that says something else now; null stands for those on disk. */
  uri: string | null;
}

/** The results of the requests, by method. */
export interface Requests {
  "driveTrace/runs": Runs;
  "driveTrace/run": GradedRun;
  "driveTrace/runAt": RunAt | null;
  "driveTrace/report": ReportBody | ReportPage | ReportFile;
  "driveTrace/timeline": ReportBody;
  "driveTrace/nextEvents": NextEvents | null;
  "driveTrace/composeEvent": Composed | null;
  "driveTrace/events": EventRows | null;
  "driveTrace/event": EventDetails | null;
  "driveTrace/compare": Compared;
  "textDocument/diagnostic": { items?: Diagnostic[] };
}
