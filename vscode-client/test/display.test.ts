import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import type { Run } from "../src/protocol";
import { aboveRuns, dayOf, endOf, groupOf, isAppended, joined, lookOf, matching, sorted, toldOf } from "../src/views/display";

function run(runId: string, headline: string, ...names: string[]): Run {
  const files = names.map((name) => ({ uri: `file:///${name}`, name, line: 0, events: 1, findings: 0, correctness: null }));
  return {
    runId, label: runId, verdict: "not-computable", earned: false, headline, title: headline, short: "", outline: [], caveats: [], folder: null, last: null,
    findings: 0, files,
  };
}

const runs = [
  run("checkout-retry", "CORRECT", "projects/checkout-retry/trace.jsonl"),
  run("search-index", "INCORRECT — qa failed", "projects/search/trace.jsonl", "projects/search/slices/a/trace.jsonl"),
];

function found(sought: string): string[] {
  return matching(runs, sought).map(({ runId }) => runId);
}

test("a run is found by words of its id, verdict and files, in any order and case", () => {
  assert.deepEqual(found(""), ["checkout-retry", "search-index"]);
  assert.deepEqual(found("  slices "), ["search-index"]);
  assert.deepEqual(found("QA search"), ["search-index"]);
  assert.deepEqual(found("retry qa"), []);
});

test("runs are sorted by when they went on last, or with those that failed first", () => {
  const told = (runId: string, verdict: Run["verdict"], last: string | null): Run => ({ ...run(runId, ""), verdict, last });
  const all = [
    told("old", "correct", "2026-05-28T14:02:00.000Z"),
    told("no-time", "not-computable", null),
    told("live", "not-computable", "2026-05-28T15:31:00.000Z"),
    told("also-live", "incorrect", "2026-05-28T15:39:00.000Z"),
  ];
  const names = (by: Parameters<typeof sorted>[1]): string => sorted(all, by).map(({ runId }) => runId).join(" ");
  assert.equal(names("last"), "live also-live old no-time");
  assert.equal(names("verdict"), "also-live live no-time old");
  assert.equal(names("file"), "old no-time live also-live");
});

test("a moment is told by its day, and by its time only on that day", () => {
  const now = new Date(2026, 4, 28, 18);
  assert.match(dayOf(new Date(2026, 4, 28, 14, 31).toISOString(), "en", now), /^2:31\sPM$/);
  assert.equal(dayOf(new Date(2025, 4, 28, 14, 31).toISOString(), "en", now), "May 28, 2025");
  assert.equal(dayOf("2026-99-99T00:00:00.000Z", "en", now), "");
});

test("above the runs stand all verdicts, and what is not among them", () => {
  const summary = ["1 CORRECT · 1 INCORRECT", "Not complete: 1 input was not read", "b/trace.jsonl: permission denied"];
  const said = { runs, unread: 0, summary };
  assert.equal(aboveRuns(said, "", false), summary.join(" · "));
  assert.equal(
    aboveRuns({ ...said, unread: 2, summary: ["1 CORRECT so far"] }, "search", true),
    "The server is not running: this is how the runs were · 1 CORRECT so far · 1 of 2 runs match “search” · 2 traces are not read yet",
  );
  assert.equal(aboveRuns({ runs: [], unread: 0, summary: [] }, "", true), "");
});

test("a row begins with what tells its run from others", () => {
  const told = { ...run("a", "not computable: not graded", "a/trace.jsonl"), short: "halted twice · 18 dispatches" };
  assert.deepEqual(toldOf(told), ["halted twice · 18 dispatches"]);
  assert.deepEqual(toldOf({ ...told, short: "" }), ["not computable: not graded", ""]);
  const graded = told.files.map((file) => ({ ...file, correctness: { mechanical: "pass", qa: "fail", intent: null } as const }));
  assert.deepEqual(toldOf({ ...told, headline: "INCORRECT — qa failed", files: graded }), ["INCORRECT — qa failed", "halted twice · 18 dispatches"]);
  assert.equal(matching([told], "twice")[0]?.runId, "a");
});

test("runs are grouped by their project, their verdict or their month", () => {
  const one: Run = { ...run("a", "CORRECT", "projects/a/trace.jsonl"), verdict: "correct", last: "2026-05-28T14:31:00.000Z" };
  const groups = (["none", "folder", "verdict", "month"] as const).map((by) => groupOf(one, by, "en"));
  assert.deepEqual(groups, ["", "projects/a", "CORRECT, qualified", "May 2026"]);
  assert.equal(groupOf({ ...one, earned: true }, "verdict", "en"), "CORRECT");
});

test("no verdict but a CORRECT that is earned has the colour of success", () => {
  const verdicts = ["correct", "incorrect", "not-computable"] as const;
  const all = verdicts.flatMap((verdict) => [true, false].map((earned) => ({ ...run("a", ""), verdict, earned })));
  const green = all.filter((each) => lookOf(each).color?.includes("green"));
  assert.deepEqual(green.map(({ verdict, earned }) => [verdict, earned]), [["correct", true]]);
});

test("what is not there leaves no dot behind", () => {
  assert.equal(joined("a", null, "", undefined, "b"), "a · b");
  assert.equal(joined(""), "");
});

test("of what is too long for its place the end is shown", () => {
  assert.equal(endOf("/usr/bin/drive-trace serve", 26), "/usr/bin/drive-trace serve");
  assert.equal(endOf("/usr/bin/drive-trace serve", 18), "…drive-trace serve");
});

test("what adds to the end of a trace is told from what is typed above it", () => {
  const lines = (start: number, end: number) => ({ start: { line: start }, end: { line: end } });
  // Of a text of ten lines, of which the last is empty.
  assert.ok(isAppended(lines(9, 9), 10, false), "appended on disk");
  assert.ok(isAppended(lines(4, 9), 10, false), "rewritten on disk, from further up on");
  assert.ok(!isAppended(lines(4, 4), 10, false), "changed on disk, in the middle");
  assert.ok(isAppended(lines(9, 9), 10, true), "typed at the end");
  assert.ok(!isAppended(lines(4, 4), 10, true), "typed in the middle");
  assert.ok(!isAppended(lines(0, 9), 10, true), "all of it replaced by a command");
});

test("every text that the manifest names is there, and none is left over", async () => {
  const named = (await readFile("package.json", "utf8")).matchAll(/%([\w.-]+)%/g);
  const texts = JSON.parse(await readFile("package.nls.json", "utf8")) as Record<string, string>;
  assert.deepEqual(new Set([...named].map(([, name]) => name)), new Set(Object.keys(texts)));
});
