import type { Mark, Round, Span, Timeline } from "../protocol";

/** A line of the view: a dispatch, or a round of the one above it. */
export interface Row {
  readonly span: Span;
  readonly depth: 0 | 1;
  readonly label: string;
  /** What tells it from its neighbours, and what else there is to say where there is room. */
  readonly name: string;
  readonly rest: string;
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
    const name = lane.name ?? words.unnamed;
    const rest = joined([lane.outcome, lane.model]);
    const label = joined([name, lane.outcome, lane.model]);
    return [{ span: lane, depth: 0, label, name, rest } satisfies Row, ...lane.rounds.map((each) => roundRow(each, words))];
  });
}

function roundRow(round: Round, words: Words): Row {
  const name = round.number === null ? "?" : String(round.number);
  const label = joined([words.round.replace("{0}", name), round.outcome]);
  return { span: round, depth: 1, label, name, rest: round.outcome ?? "" };
}

/** The line that a row begins in, which stays the same while a trace grows. */
export function lineOf({ span }: Row): number | null {
  return span.startLine ?? span.endLine;
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

/** What a turn of the wheel, or a gesture on a touchpad, says. */
export interface Wheel {
  readonly deltaX: number;
  readonly deltaY: number;
  /** 0 where these are pixels, else lines or pages. */
  readonly deltaMode: number;
  /** Also where two fingers pinch. */
  readonly ctrlKey: boolean;
  readonly shiftKey: boolean;
}

/**
 * The view after a turn of the wheel at a part of its width, which is so many pixels; undefined
 * where the turn is one down or up the rows.
 */
export function wheeled(view: Range, whole: Range, wheel: Wheel, at: number, width: number): Range | undefined {
  const unit = wheel.deltaMode === 0 ? 1 : 20;
  const length = view.to - view.from;
  if (wheel.ctrlKey) {
    const turn = Math.min(Math.max(wheel.deltaY * unit, -100), 100);
    return zoomed(view, whole, 2 ** (turn / 100), view.from + at * length);
  }
  const isTurned = wheel.shiftKey && wheel.deltaX === 0;
  const across = isTurned ? wheel.deltaY : wheel.deltaX;
  const down = isTurned ? 0 : wheel.deltaY;
  return Math.abs(across) > Math.abs(down) ? shifted(view, whole, (across * unit * length) / width) : undefined;
}

/** The rows that are in view, and some on each side. */
export function visible(top: number, height: number, row: number, count: number): { first: number; stop: number } {
  const beside = 6;
  return {
    first: Math.max(0, Math.floor(top / row) - beside),
    stop: Math.min(count, Math.ceil((top + height) / row) + beside),
  };
}

export type TimedMark = Mark & { readonly at: number };

/** Moments that can be told apart in so many columns, each with its first mark and that one's index. */
export interface MarkGroup {
  readonly mark: Mark;
  readonly index: number;
  readonly at: number;
  readonly count: number;
}

export function marksIn(marks: readonly Mark[], view: Range, columns: number): MarkGroup[] {
  const found = new Map<number, MarkGroup>();
  marks.forEach((mark, index) => {
    if (mark.at !== null && mark.at >= view.from && mark.at <= view.to) {
      const at = (mark.at - view.from) / (view.to - view.from);
      const column = Math.floor(at * columns);
      const known = found.get(column);
      found.set(column, known ? { ...known, count: known.count + 1 } : { mark, index, at, count: 1 });
    }
  });
  return [...found.values()];
}

/** The marks that have a place in the whole, in the order of time. */
export function placed(marks: readonly Mark[], { from, to }: Range): TimedMark[] {
  return marks
    .filter((mark): mark is TimedMark => mark.at !== null && mark.at >= from && mark.at <= to)
    .sort((one, other) => one.at - other.at || one.line - other.line);
}

/** The view, moved if a moment is not in it, so that it is. */
export function showing(view: Range, whole: Range, moment: number): Range {
  const isIn = moment >= view.from && moment <= view.to;
  return isIn ? view : shifted(view, whole, moment - (view.from + view.to) / 2);
}

const steps = [1, 5, 15, 60, 300, 900, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800, 2_592_000, 7_776_000]
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
