import * as vscode from "vscode";

import type { Run, Runs, Told, Verdict } from "../protocol";

/** Icon and colour of a verdict, as VS Code names them: green is for CORRECT and nothing else. */
export interface Look {
  readonly icon: string;
  readonly color?: string;
}

const looks: Readonly<Record<Verdict, Look>> = {
  correct: { icon: "pass", color: "charts.green" },
  incorrect: { icon: "error", color: "charts.red" },
  "not-computable": { icon: "question" },
};

/** A CORRECT that is not earned looks like one that nobody knows. */
export function lookOf({ verdict, earned }: Told): Look {
  return looks[verdict === "correct" && !earned ? "not-computable" : verdict];
}

/** What tells a run from others: its verdict where somebody graded it, and what happened in it. */
export function toldOf({ headline, short, files }: Run): string[] {
  const isGraded = files.some(({ correctness }) => correctness !== null);
  return isGraded || short === "" ? [headline, short] : [short];
}

/** What runs can be grouped by. */
export type Grouping = "none" | "folder" | "verdict" | "month";

/** The group of a run; empty where it has none. */
export function groupOf({ files, last, verdict, earned }: Run, by: Grouping, locale: string): string {
  switch (by) {
    case "none":
      return "";
    case "folder":
      return files[0]?.name.split("/").slice(0, -1).join("/") ?? "";
    case "month":
      return last === null ? vscode.l10n.t("no date") : new Date(last).toLocaleDateString(locale, { year: "numeric", month: "long", timeZone: "UTC" });
    case "verdict":
      return verdict === "correct" && !earned ? vscode.l10n.t("CORRECT, qualified") : verdictWords[verdict];
  }
}

const verdictWords: Readonly<Record<Verdict, string>> = {
  correct: "CORRECT", incorrect: "INCORRECT", "not-computable": "not computable",
};

/** The runs whose id, verdict, files or course hold every word that is looked for. */
export function matching(runs: readonly Run[], sought: string): Run[] {
  const words = sought.toLowerCase().split(/\s+/).filter((word) => word !== "");
  return runs.filter((run) => {
    const text = [run.runId, run.headline, run.short, ...run.outline, run.folder ?? "", ...run.files.map(({ name }) => name)].join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** By which runs are sorted. */
export type Sorting = "last" | "verdict" | "file";

const urgency: readonly Verdict[] = ["incorrect", "not-computable", "correct"];

/**
 * The runs that went on last stand first, or those that failed. Those that went on within ten
 * minutes of each other stay in the order of their files: several live ones would never stand still.
 */
export function sorted(runs: readonly Run[], by: Sorting): Run[] {
  const tenMinutes = ({ last }: Run): string => last?.slice(0, "2026-05-28T14:3".length) ?? "";
  const byLast = (a: Run, b: Run): number => tenMinutes(b).localeCompare(tenMinutes(a));
  const byVerdict = (a: Run, b: Run): number => urgency.indexOf(a.verdict) - urgency.indexOf(b.verdict);
  return by === "file" ? [...runs] : runs.toSorted((a, b) => (by === "verdict" && byVerdict(a, b)) || byLast(a, b));
}

/** A moment in short: today's time, or the day; nothing where it is no moment. */
export function dayOf(moment: string | null, locale: string, now = new Date()): string {
  const date = new Date(moment ?? "");
  if (isNaN(date.getTime())) {
    return "";
  }
  return date.toDateString() === now.toDateString()
    ? date.toLocaleTimeString(locale, { timeStyle: "short" })
    : date.toLocaleDateString(locale, { dateStyle: "medium" });
}

/** What the rows of all runs do not show: how many have which verdict, and which are not among them. */
export function aboveRuns({ runs, unread, summary }: Runs, sought: string, isOutOfReach: boolean): string {
  return joined(
    runs.length > 0 && isOutOfReach && vscode.l10n.t("The server is not running: this is how the runs were"),
    ...summary,
    sought !== "" && vscode.l10n.t("{0} of {1} runs match “{2}”", matching(runs, sought).length, runs.length, sought),
    unread > 0 && vscode.l10n.t("{0} traces are not read yet", unread),
  );
}

/** The parts of a text that are there, with a dot between them. */
export function joined(...parts: readonly (string | false | null | undefined)[]): string {
  return parts.filter(Boolean).join(" · ");
}

/** The end of a text, where it is longer than there is room for. */
export function endOf(text: string, most: number): string {
  return text.length > most ? `…${text.slice(1 - most)}` : text;
}

/** The lines of a change, from 0, before it was made. */
interface Changed {
  readonly start: { readonly line: number };
  readonly end: { readonly line: number };
}

/**
 * Whether a change of a text of so many lines adds to its end. What is typed (`isTyped`: the text
 * is not what is on disk) begins there, too; what is read from disk may begin further up.
 */
export function isAppended({ start, end }: Changed, lines: number, isTyped: boolean): boolean {
  return end.line >= lines - 1 && (!isTyped || start.line >= lines - 1);
}
