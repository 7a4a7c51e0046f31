import assert from "node:assert/strict";
import { test } from "node:test";

import type { EventRow } from "../src/protocol";
import { duration, type Filter, isRow, type Item, itemsOf, replaced, type Row, rowOf, sinceBefore } from "../src/webview/event-list";

const all: Filter = { text: "", event: "", dispatch: "", outcome: "", withProblems: false, grouped: false, byTime: false };

function row(line: number, more: Partial<EventRow> = {}): Row {
  return rowOf({ line, event: "round-end", status: "valid", run: "shop", words: "", ...more });
}

const rows = [
  row(0, { event: "slice-started", slice: "a" }),
  row(1, { slice: "a", dispatchId: "1", dispatch: "parser", words: "tests are red", clockMs: 1000 }),
  row(2, { slice: "a", dispatchId: "2", dispatch: "lexer", outcome: "satisfied", claimedMs: 90_000 }),
  row(3, { status: "invalid", findings: 1 }),
];

function shown(items: readonly Item[]): (number | string)[] {
  return items.map((item) => (isRow(item) ? item.line : `${item.name} (${item.count})`));
}

test("a trace is filtered by any of its parts", () => {
  const lines = (filter: Partial<Filter>): unknown => shown(itemsOf(rows, { ...all, ...filter }, new Set()));
  assert.deepEqual(lines({}), [0, 1, 2, 3]);
  assert.deepEqual(lines({ text: "RED parser" }), [1]);
  assert.deepEqual(lines({ event: "slice-started" }), [0]);
  assert.deepEqual(lines({ dispatch: "2" }), [2]);
  assert.deepEqual(lines({ outcome: "satisfied" }), [2]);
  assert.deepEqual(lines({ outcome: "rejected" }), [3]);
  assert.deepEqual(lines({ withProblems: true }), [3]);
  assert.deepEqual(lines({ byTime: true }), [2, 1]);
});

test("groups have headings, and fold", () => {
  const grouped = { ...all, grouped: true };
  assert.deepEqual(shown(itemsOf(rows, grouped, new Set())), [
    "a (3)", 0, "parser (1)", 1, "lexer (1)", 2, "shop (1)", 3,
  ]);
  assert.deepEqual(shown(itemsOf(rows, grouped, new Set(["shop\na\n1"]))), [
    "a (3)", 0, "parser (1)", "lexer (1)", 2, "shop (1)", 3,
  ]);
  assert.deepEqual(shown(itemsOf(rows, grouped, new Set(["shop\na"]))), ["a (3)", "shop (1)", 3]);
});

test("after an edit the rows of its lines are others, and those of no line are gone", () => {
  const lines = (...after: Parameters<typeof replaced>): string[] => replaced(...after).map(({ line, words }) => `${line}${words}`);
  const made = [row(1, { words: "!" }), row(2, { words: "!" })];
  assert.deepEqual(lines(rows, 1, 3, made).slice(0, 4), ["0", "1!", "2!", "3"]);
  assert.deepEqual(lines(rows, 1, Infinity, made), ["0", "1!", "2!"]);
  assert.deepEqual(lines(rows, 4, Infinity, [row(4)]), ["0", "1tests are red", "2", "3", "4"]);
});

test("durations are rounded one way, and time may go back", () => {
  assert.equal(duration(1_198_000), "19m 58s");
  assert.equal(duration(7_500_000), "2h 05m");
  assert.equal(duration(7_199_000), "2h");
  assert.equal(duration(95_000_000), "1d 2h");
  assert.equal(duration(59_600), "59.6s");
  assert.equal(duration(undefined), "");
  const [early, late] = [row(0, { ts: "2026-05-28T14:00:00Z" }), row(1, { ts: "2026-05-28T14:01:00Z" })];
  assert.equal(sinceBefore(late, early), "+1m");
  assert.equal(sinceBefore(early, late), "−1m");
  assert.equal(sinceBefore(early, undefined), "");
});
