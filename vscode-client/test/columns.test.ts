import assert from "node:assert/strict";
import { test } from "node:test";

import { columnFor, columnOfViews, type Group } from "../src/views/columns";

const trace = "file:///w/trace.jsonl";

function files(column: number, ...open: string[]): Group {
  return { column, files: open, shown: open[0], showsView: false };
}

function view(column: number, ...behind: string[]): Group {
  return { column, files: behind, shown: undefined, showsView: true };
}

test("a file is shown where it is open, in view rather than behind another", () => {
  assert.equal(columnFor(trace, [files(1, "a"), files(2, "b", trace)]), 2);
  assert.equal(columnFor(trace, [files(1, "a", trace), files(2, trace)]), 2);
});

test("a file that is not open covers no view", () => {
  assert.equal(columnFor(trace, [view(1), files(2, "a")]), 2);
  assert.equal(columnFor(trace, [files(1), view(2)]), 1);
  assert.equal(columnFor(trace, [view(1), view(2)]), undefined);
});

test("the view that asks stays as it is, also where the file is behind it", () => {
  assert.equal(columnFor(trace, [view(1)], 1), undefined);
  assert.equal(columnFor(trace, [view(1, trace)], 1), undefined);
  assert.equal(columnFor(trace, [view(1, trace), files(2, "a")], 1), 2);
  assert.equal(columnFor(trace, [files(1, "a"), files(2, "b"), view(3), files(4, "c")], 3), 2);
});

test("a view opens where the others are, but not over the trace that somebody works in", () => {
  assert.equal(columnOfViews([], 1), undefined);
  assert.equal(columnOfViews([undefined, 2], 1), 2);
  assert.equal(columnOfViews([2, 2], undefined), 2);
  assert.equal(columnOfViews([1], 1), undefined);
});
