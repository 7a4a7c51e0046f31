import assert from "node:assert/strict";
import { test } from "node:test";

import type { Uri } from "vscode";

import type { Run } from "../src/protocol";
import { sideOf } from "../src/views/sides";

function run(runId: string, ...names: string[]): Run {
  const files = names.map((name) => ({ uri: `file:///${name}`, name, line: 0, events: 1, findings: 0, correctness: null }));
  return {
    runId, label: `<${runId}>`, verdict: "correct", earned: true, headline: "CORRECT", title: "CORRECT", short: "", outline: [], caveats: [], folder: null,
    last: null, findings: 0, files,
  };
}

const one = run("one", "a/trace.jsonl", "a/slices/trace.jsonl");
const two = run("two", "a/trace.jsonl");

test("chosen rows stand for their runs, each in all of its files", () => {
  assert.deepEqual(sideOf([{ run: one }]), { uris: ["file:///a/trace.jsonl", "file:///a/slices/trace.jsonl"], runs: ["one"], label: "<one>" });
  const folder = { group: "a", runs: [{ run: one }, { run: two }] };
  assert.deepEqual(sideOf([folder])?.runs, ["one", "two"]);
  assert.equal(sideOf([folder])?.label, "a");
  const file = two.files[0];
  assert.ok(file !== undefined);
  assert.deepEqual(sideOf([{ of: two, file }, { run: two }, { run: one }]), {
    uris: ["file:///a/trace.jsonl", "file:///a/slices/trace.jsonl"], runs: ["two", "one"], label: "<two> + 1",
  });
  assert.equal(sideOf([]), undefined);
});

test("folders and files of the Explorer stand for all of their runs", () => {
  const uri = (path: string) => ({ scheme: "file", path, toString: () => `file://${path}` }) as unknown as Uri;
  assert.deepEqual(sideOf([uri("/w/runs/old/"), uri("/w/b")]), { uris: ["file:///w/runs/old/", "file:///w/b"], label: "old + 1" });
});
