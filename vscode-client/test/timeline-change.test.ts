import assert from "node:assert/strict";
import { test } from "node:test";

import type { Lane, Round, Span, Timeline } from "../src/protocol";
import { changed, changeOf } from "../src/webview/change";

const nothing: Span = { outcome: null, start: null, end: null, claimed: null, clock: null, startLine: null, endLine: null };

function lane(id: string, ...ends: (number | null)[]): Lane {
  const rounds = ends.map((end, index): Round => ({ ...nothing, number: index + 1, findings: null, end }));
  return { ...nothing, id, name: id, model: null, roundStarts: ends.length, rounds };
}

function timeline(lanes: Lane[], ...marks: number[]): Timeline {
  return { runId: "r", title: String(lanes.length), start: 0, end: 9, lanes, marks: marks.map((line) => ({ type: "t", at: line, line })) };
}

const before = timeline([lane("a", 1, 2), lane("b", 3, null), lane("c")], 1, 2);

test("a timeline is what the one before was, changed", () => {
  const others = [
    before,
    timeline([lane("a", 1, 2), lane("b", 3, 4, null), lane("c"), lane("d", 5)], 1, 2, 3),
    timeline([lane("a", 1), lane("b", 3, null)], 2),
    timeline([lane("b", 3, null), lane("a", 1, 2), lane("c", 7)]),
    timeline([]),
  ];
  for (const now of others) {
    assert.deepEqual(changed(before, changeOf(before, now)), now);
    assert.deepEqual(changed(now, changeOf(now, before)), before);
  }
});

test("of a run that goes on only its end is said", () => {
  const now = timeline([lane("a", 1, 2), lane("b", 3, 4, null), lane("c")], 1, 2, 3);
  const { lanes, marks } = changeOf(before, now);
  assert.equal(lanes.kept, 1);
  assert.deepEqual(lanes.rest.map(({ id, rounds }) => [id, rounds.kept, rounds.rest.length]), [["b", 1, 2], ["c", 0, 0]]);
  assert.deepEqual(marks, { kept: 2, rest: [{ type: "t", at: 3, line: 3 }] });
});
