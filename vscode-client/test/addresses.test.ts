import assert from "node:assert/strict";
import { test } from "node:test";

import { respelled } from "../src/addresses";

/** As VS Code does, of what stands here. */
const spell = (uri: string): string => uri.replace(/^file:\/\/\/([A-Z]):/, (_, drive: string) => `file:///${drive.toLowerCase()}%3A`);

test("the addresses of runs are spelled as VS Code does, and nothing else is touched", () => {
  const file = { uri: "file:///C:/work/trace.jsonl", name: "C:/work/trace.jsonl", line: 3 };
  const said = { runs: [{ runId: "file:///C:/", files: [file] }, { runId: "b", files: [] }], unread: 1, summary: [] };
  assert.deepEqual(respelled(said, spell), {
    runs: [{ runId: "file:///C:/", files: [{ ...file, uri: "file:///c%3A/work/trace.jsonl" }] }, { runId: "b", files: [] }],
    unread: 1,
    summary: [],
  });
  assert.equal(said.runs[0]?.files[0]?.uri, "file:///C:/work/trace.jsonl");
});

test("what holds no runs is handed on as it is", () => {
  const timeline = { runId: "a", lanes: [] };
  assert.equal(respelled(timeline, spell), timeline);
  assert.equal(respelled(null, spell), null);
});
