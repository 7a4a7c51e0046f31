import assert from "node:assert/strict";
import { test } from "node:test";

import type { EventRow } from "../src/protocol";
import { duration, type Filter, type Item, itemsOf, sinceBefore } from "../src/webview/event-list";

const all: Filter = { text: "", event: "", dispatch: "", outcome: "", withProblems: false, grouped: false, byTime: false };

function row(line: number, more: Partial<EventRow> = {}): EventRow {
  return {
    line, ts: null, event: "round-end", status: "valid", run: "shop", slice: null, dispatchId: null, dispatch: null, round: null,
    words: "", outcome: null, clockMs: null, claimedMs: null, findings: 0, severity: null, ...more,
  };
}

const rows = [
  row(0, { event: "slice-started", slice: "a" }),
  row(1, { slice: "a", dispatchId: "1", dispatch: "parser", words: "tests are red", clockMs: 1000 }),
  row(2, { slice: "a", dispatchId: "2", dispatch: "lexer", outcome: "satisfied", claimedMs: 90_000 }),
  row(3, { status: "invalid", findings: 1 }),
];

function shown(items: readonly Item[]): (number | string)[] {
  return items.map((item) => ("row" in item ? item.row.line : `${item.name} (${item.count})`));
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

test("durations are rounded one way, and time may go back", () => {
  assert.equal(duration(1_198_000), "19m 58s");
  assert.equal(duration(7_500_000), "2h 05m");
  assert.equal(duration(null), "");
  const [early, late] = [row(0, { ts: "2026-05-28T14:00:00Z" }), row(1, { ts: "2026-05-28T14:01:00Z" })];
  assert.equal(sinceBefore(late, early), "+1m 00s");
  assert.equal(sinceBefore(early, late), "−1m 00s");
  assert.equal(sinceBefore(early, undefined), "");
});
