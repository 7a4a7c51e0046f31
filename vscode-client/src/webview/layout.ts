import type { Mark, Span, Timeline } from "../protocol";

/** A line of the view: a dispatch, or a round of the one above it. */
export interface Row {
  readonly span: Span;
  readonly depth: 0 | 1;
  readonly label: string;
}

/** What of a row is drawn, in parts of the width that is in view. */
export interface Bar {
  readonly kind: "clock" | "claimed" | "open";
  readonly left: number;
  readonly width: number;
}

/** The time that is in view, in milliseconds since 1970. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** The words that rows are called by. */
export interface Words {
  readonly round: string;
  readonly unnamed: string;
}

export function rowsOf({ lanes }: Timeline, words: Words): Row[] {
  return lanes.flatMap((lane) => {
    const label = [lane.name ?? words.unnamed, lane.outcome, lane.model];
    const rounds = lane.rounds.map((round): Row => {
      const name = words.round.replace("{0}", round.number === null ? "?" : String(round.number));
      return { span: round, depth: 1, label: joined([name, round.outcome]) };
    });
    return [{ span: lane, depth: 0, label: joined(label) } satisfies Row, ...rounds];
  });
}

function joined(parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null).join(" · ");
}

/** All of a run's time; never empty. */
export function wholeRange(timeline: Timeline): Range {
  const from = timeline.start ?? 0;
  return { from, to: Math.max(timeline.end ?? from, from + 1000) };
}

/** The bars of a row: what stands open goes on to the end of the run. */
export function barsOf({ start, end, claimed }: Span, whole: Range, view: Range): Bar[] {
  const begin = start ?? (end === null ? null : end - (claimed ?? 0));
  if (begin === null) {
    return [];
  }
  const isOpen = end === null;
  const spans: [Bar["kind"], number, number][] = [[isOpen ? "open" : "clock", begin, end ?? whole.to]];
  if (claimed !== null) {
    spans.push(["claimed", begin, begin + claimed]);
  }
  const scale = view.to - view.from;
  return spans
    .filter(([, from, to]) => to >= view.from && from <= view.to)
    .map(([kind, from, to]) => {
      const left = (Math.max(from, view.from) - view.from) / scale;
      const right = (Math.min(Math.max(to, from), view.to) - view.from) / scale;
      return { kind, left, width: right - left };
    });
}

/** A closer or wider view around a moment, inside the whole. */
export function zoomed(view: Range, whole: Range, factor: number, around: number): Range {
  const length = Math.min(Math.max((view.to - view.from) * factor, 1000), whole.to - whole.from);
  const share = (around - view.from) / (view.to - view.from);
  const from = around - Math.min(Math.max(share, 0), 1) * length;
  return shifted({ from, to: from + length }, whole, 0);
}

/** The view moved by some milliseconds, inside the whole. */
export function shifted({ from, to }: Range, whole: Range, by: number): Range {
  const length = to - from;
  const start = Math.min(Math.max(from + by, whole.from), Math.max(whole.to - length, whole.from));
  return { from: start, to: start + length };
}

/** The row that a line of the trace stands in, the innermost; else the last that begins above it. */
export function rowAtLine(rows: readonly Row[], line: number): number {
  let found = -1;
  let isInside = false;
  rows.forEach(({ span: { startLine, endLine } }, index) => {
    const first = startLine ?? endLine;
    if (first === null || first > line) {
      return;
    }
    const holds = endLine !== null && endLine >= line;
    if (holds || !isInside) {
      found = index;
      isInside ||= holds;
    }
  });
  return found;
}

/** The rows that are in view, and some on each side. */
export function visible(top: number, height: number, row: number, count: number): { first: number; stop: number } {
  const beside = 6;
  return {
    first: Math.max(0, Math.floor(top / row) - beside),
    stop: Math.min(count, Math.ceil((top + height) / row) + beside),
  };
}

/** Moments that can be told apart in so many columns, each with its first mark. */
export function marksIn(marks: readonly Mark[], view: Range, columns: number): { mark: Mark; at: number; count: number }[] {
  const found = new Map<number, { mark: Mark; at: number; count: number }>();
  for (const mark of marks) {
    if (mark.at !== null && mark.at >= view.from && mark.at <= view.to) {
      const at = (mark.at - view.from) / (view.to - view.from);
      const column = Math.floor(at * columns);
      const known = found.get(column);
      found.set(column, known ? { ...known, count: known.count + 1 } : { mark, at, count: 1 });
    }
  }
  return [...found.values()];
}

const steps = [1, 5, 15, 60, 300, 900, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 604_800, 2_592_000, 7_776_000]
  .map((seconds) => seconds * 1000);

/** Round moments to be written over the lanes, at most so many. */
export function ticks({ from, to }: Range, most: number): number[] {
  const least = (to - from) / Math.max(1, most);
  const step = steps.find((each) => each >= least) ?? Math.ceil(least / 31_536_000_000) * 31_536_000_000;
  const first = Math.ceil(from / step) * step;
  return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, index) => first + index * step);
}

/** A length of time in short: `1h 05m`, `12m 30s`, `4.2s`. */
export function short(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  const two = (number: number): string => String(number).padStart(2, "0");
  if (seconds >= 3600) {
    return `${Math.floor(seconds / 3600)}h ${two(Math.floor((seconds % 3600) / 60))}m`;
  }
  return seconds >= 60 ? `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s` : `${milliseconds / 1000}s`;
}
