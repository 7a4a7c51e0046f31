import assert from "node:assert/strict";
import { test } from "node:test";

import { gateArguments, judgeArguments, type JudgeSettings, lastWords, parseJudged, plain } from "../src/grading/words";

const target = { file: "/w/trace.jsonl", runId: "--help" };
const judge: JudgeSettings = {
  model: "my-judge", api: "", baseUrl: "", modelCommand: "./judge.sh", family: "qwen", orchestratorFamily: "", calibration: "",
};

test("a gate is run with its commands in their order, and none of them is an option", () => {
  assert.deepEqual(gateArguments(target, "qa", ["make a b", "--x"]), [
    "gate", "--trace-file=/w/trace.jsonl", "--project-run-id=--help", "--component=qa", "--run=make a b", "--run=--x",
  ]);
});

test("a judge is asked with what the settings say, and with nothing where they say nothing", () => {
  const start = ["judge", "--output-format=json", "--trust-config", "--trace-file=/w/trace.jsonl", "--project-run-id=--help"];
  const end = ["--model=my-judge", "--model-command=./judge.sh", "--family=qwen"];
  assert.deepEqual(judgeArguments(target, "/w/case", { diff: "/w/run.diff" }, judge),
    [...start, "--acceptance=/w/case", "--diff=/w/run.diff", ...end]);
  assert.deepEqual(judgeArguments(target, "/w/case", { repo: "/w", range: "main..HEAD" }, judge),
    [...start, "--acceptance=/w/case", "--repo=/w", "--range=main..HEAD", ...end]);
});

test("what a judge says counts only if it has the promised form", () => {
  const said = { intent: "pass", reasons: ["a"], left_out: [], calibration: ["no file"] };
  assert.deepEqual(parseJudged(JSON.stringify(said)), said);
  for (const wrong of ["", "null", "[]", "{}", '{"reasons": "a"}', '{"reasons": [1]}', '{"reasons": [], "left_out": {}}']) {
    assert.equal(parseJudged(wrong), undefined, wrong);
  }
});

test("why nothing was recorded is what drive-trace said last, not what a gate printed", () => {
  const end = "drive-trace: nothing was written to trace.jsonl\n";
  assert.equal(lastWords(`FAILED 3 tests\ndrive-trace: the command was not found\n${end}`), "the command was not found");
  assert.equal(lastWords(`50 %drive-trace: the command took longer than 2 seconds\n${end}`), "the command took longer than 2 seconds");
  assert.equal(lastWords("Usage: drive-trace gate\n\nError: No such option: --x\n"), "Error: No such option: --x");
  assert.equal(lastWords(""), "");
});

test("text of others runs nothing in a message, and shows no icon", () => {
  assert.equal(plain("[Retry](command:x) $(check)\u202e\n"), "[Retry] (command:x) $ (check) ");
  assert.equal(plain("a".repeat(500)).length, 400);
});
