import assert from "node:assert/strict";
import { test } from "node:test";

import { pieces } from "../src/grading/citations";

/** What a reason names: `path:line`, with nothing for what is not said. */
function named(reason: string): string[] {
  const found = pieces(reason);
  assert.equal(found.map(({ text }) => text).join(""), reason, "nothing is lost");
  return found.flatMap(({ path, line }) => (path === undefined && line === undefined ? [] : [`${path ?? ""}:${line ?? ""}`]));
}

test("files are named with a line, or without", () => {
  assert.deepEqual(named("Fulfilled in src/a.ts:12 (see `b/src/läuft.py`)."), ["src/a.ts:12", "b/src/läuft.py:"]);
  assert.deepEqual(named("src/a.ts#L4, src/b.ts line 5 and src/c.ts, lines 6-9"), ["src/a.ts:4", "src/b.ts:5", "src/c.ts:6"]);
});

test("a line alone is of the file before it, else of the trace", () => {
  assert.deepEqual(named("At line 14 the run was closed."), [":14"]);
  assert.deepEqual(named("In src/a.ts the guard at line 14 is missing; lines 20 to 22, too."), ["src/a.ts:", "src/a.ts:14", "src/a.ts:20"]);
});

test("what only looks like a file names nothing", () => {
  assert.deepEqual(named("It retries, e.g. on 429, since v1.2 of 3.5."), []);
  assert.deepEqual(named("line one, online 5, deadlines"), []);
  assert.deepEqual(named("a.b.c is set at line 3"), [":3"]);
});

test("a long text costs no more than its length", () => {
  for (const long of ["a".repeat(1e6), "a/".repeat(5e5), "a.".repeat(5e5), "line ".repeat(2e5)]) {
    pieces(long);
  }
});
