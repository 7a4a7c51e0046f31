import assert from "node:assert/strict";
import { test } from "node:test";

import type { Lane, Round, Span, Timeline } from "../src/protocol";
import {
  barsOf, lineOf, marksIn, placed, rowAtLine, rowsOf, shifted, short, showing, ticks, visible, type Wheel, wheeled,
  wholeRange, zoomed,
} from "../src/webview/layout";

const nothing: Span = { outcome: null, start: null, end: null, claimed: null, clock: null, startLine: null, endLine: null };
const words = { round: "round {0}", unnamed: "not started" };
const whole = { from: 0, to: 1000 };

function round(number: number | null, span: Partial<Span>): Round {
  return { ...nothing, number, findings: null, ...span };
}

function lane(name: string | null, span: Partial<Span>, ...rounds: Round[]): Lane {
  return { ...nothing, id: "d", name, model: null, roundStarts: rounds.length, ...span, rounds };
}

function timeline(...lanes: Lane[]): Timeline {
  return { runId: "r", title: "", start: 0, end: 1000, lanes, marks: [] };
}

const rows = rowsOf(
  timeline(
    lane("first", { startLine: 1, endLine: 6, outcome: "completed" }, round(1, { startLine: 2, endLine: 3 }), round(2, { startLine: 4, endLine: 5 })),
    lane(null, { startLine: 8 }, round(null, { startLine: 9 })),
  ),
  words,
);

test("a row for each dispatch and each of its rounds", () => {
  const shown = rows.map(({ depth, label }) => `${"  ".repeat(depth)}${label}`);
  assert.deepEqual(shown, ["first · completed", "  round 1", "  round 2", "not started", "  round ?"]);
});

test("what tells rows apart stands alone, in front of what there may be no room for", () => {
  assert.deepEqual(rows.map(({ name, rest }) => [name, rest]), [
    ["first", "completed"], ["1", ""], ["2", ""], ["not started", ""], ["?", ""],
  ]);
  assert.deepEqual(rows.map(lineOf), [1, 2, 4, 8, 9]);
});

test("the cursor is in the innermost row that holds its line, else in the last that begins above", () => {
  assert.deepEqual([0, 1, 2, 3, 4, 6].map((line) => rowAtLine(rows, line)), [-1, 0, 1, 1, 2, 0]);
  assert.deepEqual([7, 8, 9, 50].map((line) => rowAtLine(rows, line)), [2, 3, 4, 4]);
});

test("bars are parts of the time that is in view", () => {
  const span = { ...nothing, start: 250, end: 750, claimed: 125 };
  assert.deepEqual(barsOf(span, whole, whole), [
    { kind: "clock", left: 0.25, width: 0.5 },
    { kind: "claimed", left: 0.25, width: 0.125 },
  ]);
  assert.deepEqual(barsOf(span, whole, { from: 500, to: 1000 }), [{ kind: "clock", left: 0, width: 0.5 }]);
  assert.deepEqual(barsOf(span, whole, { from: 800, to: 900 }), []);
});

test("what has not ended is open up to the end of the run, and what has no time is nowhere", () => {
  assert.deepEqual(barsOf({ ...nothing, start: 500 }, whole, whole), [{ kind: "open", left: 0.5, width: 0.5 }]);
  assert.deepEqual(barsOf({ ...nothing, end: 500, claimed: 100 }, whole, whole)[0], { kind: "clock", left: 0.4, width: 0.5 - 0.4 });
  assert.deepEqual(barsOf(nothing, whole, whole), []);
});

test("an end before its start has no length", () => {
  const [bar] = barsOf({ ...nothing, start: 500, end: 100 }, whole, whole);
  assert.deepEqual(bar, { kind: "clock", left: 0.5, width: 0 });
});

test("zooming and moving stay inside the whole", () => {
  const long = { from: 0, to: 100_000 };
  assert.deepEqual(zoomed(long, long, 0.5, 0), { from: 0, to: 50_000 });
  assert.deepEqual(zoomed(long, long, 0.5, 100_000), { from: 50_000, to: 100_000 });
  assert.deepEqual(zoomed(long, long, 4, 5), long);
  assert.deepEqual(zoomed({ from: 0, to: 1500 }, long, 0.5, 0), { from: 0, to: 1000 });
  assert.deepEqual(shifted({ from: 10_000, to: 20_000 }, long, -50_000), { from: 0, to: 10_000 });
  assert.deepEqual(shifted({ from: 10_000, to: 20_000 }, long, 500_000), { from: 90_000, to: 100_000 });
});

const still: Wheel = { deltaX: 0, deltaY: 0, deltaMode: 0, ctrlKey: false, shiftKey: false };
const day = { from: 0, to: 100_000 };

test("the wheel zooms around the pointer, moves the time, or is left to the rows", () => {
  const turn = (wheel: Partial<Wheel>, view = day, at = 0.5): unknown => wheeled(view, day, { ...still, ...wheel }, at, 100);
  assert.deepEqual(turn({ ctrlKey: true, deltaY: -100 }), { from: 25_000, to: 75_000 });
  assert.deepEqual(turn({ ctrlKey: true, deltaY: -5, deltaMode: 1 }, day, 0), { from: 0, to: 50_000 });
  assert.deepEqual(turn({ ctrlKey: true, deltaY: -9999 }), { from: 25_000, to: 75_000 });
  const half = { from: 0, to: 50_000 };
  assert.deepEqual(turn({ deltaX: 10, deltaY: 3 }, half), { from: 5000, to: 55_000 });
  assert.deepEqual(turn({ shiftKey: true, deltaY: 10 }, half), { from: 5000, to: 55_000 });
  assert.deepEqual(turn({ shiftKey: true, deltaX: -10 }, half), half);
  assert.equal(turn({ deltaY: 100 }, half), undefined);
  assert.equal(turn({ deltaX: 3, deltaY: 10 }, half), undefined);
});

test("a moment that is not in view is brought into its middle", () => {
  const half = { from: 0, to: 50_000 };
  assert.deepEqual(showing(half, day, 50_000), half);
  assert.deepEqual(showing(half, day, 60_000), { from: 35_000, to: 85_000 });
  assert.deepEqual(showing(half, day, 99_000), { from: 50_000, to: 100_000 });
});

test("marks are walked in the order of time, but for those that have no place", () => {
  const marks = [[3, 900], [1, null], [2, 100], [9, 100], [4, 5000]] as const;
  const found = placed(marks.map(([line, at]) => ({ type: "t", at, line })), whole);
  assert.deepEqual(found.map(({ line }) => line), [2, 9, 3]);
});

test("a run without times, or of one moment, has a range all the same", () => {
  assert.deepEqual(wholeRange({ ...timeline(), start: null, end: null }), { from: 0, to: 1000 });
  assert.deepEqual(wholeRange({ ...timeline(), start: 5000, end: 5000 }), { from: 5000, to: 6000 });
});

test("of 10,000 rows only those in view are drawn", () => {
  const { first, stop } = visible(120_000, 600, 24, 10_000);
  assert.ok(first <= 5000 && stop >= 5025 && stop - first < 50, `${first} to ${stop}`);
  assert.deepEqual(visible(0, 600, 24, 3), { first: 0, stop: 3 });
});

test("marks that fall together are one", () => {
  const mark = (at: number | null, line: number): { type: string; at: number | null; line: number } => ({ type: "t", at, line });
  const found = marksIn([mark(0, 1), mark(1, 2), mark(null, 3), mark(500, 4), mark(2000, 5)], whole, 100);
  assert.deepEqual(found.map(({ mark: { line }, index, count }) => [line, index, count]), [[1, 0, 2], [4, 3, 1]]);
});

test("ticks are round and few", () => {
  const minute = 60_000;
  assert.deepEqual(ticks({ from: 30_000, to: 4 * minute }, 4), [1, 2, 3, 4].map((each) => each * minute));
  const [first = 0, second = 0] = ticks({ from: 0, to: 84 * 60 * minute }, 3);
  assert.equal(second - first, 48 * 60 * minute);
  for (const length of [1, 999, 3_600_000, 86_400_000 * 400, 31_536_000_000 * 9000]) {
    assert.ok(ticks({ from: 7, to: 7 + length }, 8).length <= 9, String(length));
  }
});

test("lengths in short", () => {
  assert.deepEqual([80, 4200, 750_000, 3_900_000].map(short), ["0.08s", "4.2s", "12m 30s", "1h 05m"]);
});
