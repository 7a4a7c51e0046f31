import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";

import { type Ended, runToEnd } from "../src/grading/child";

/** On Windows there is neither `/bin/sh` nor a signal that a program can answer. */
const posix = { skip: process.platform === "win32" && "needs a POSIX system" };
const never = new AbortController().signal;

function sh(script: string, take: (text: string) => void = () => undefined, signal = never): Promise<Ended> {
  return runToEnd("/bin/sh", ["-c", script], tmpdir(), take, signal);
}

test("what a program writes comes back, and its errors as they come", posix, async () => {
  const taken: string[] = [];
  const ended = await sh("echo out; echo one >&2; exit 3", (text) => { taken.push(text); });
  assert.deepEqual(ended, { code: 3, output: "out\n", errors: "one\n" });
  assert.equal(taken.join(""), "one\n");
});

test("one that cannot be started is an error", async () => {
  await assert.rejects(runToEnd("/no/such/program", [], tmpdir(), () => undefined, never), /ENOENT/);
});

test("who cancels ends it with all that it has started", posix, async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "drive-trace-child-"));
  const cancel = new AbortController();
  // The child itself says that it is there: a shell that has just been forked loses a signal.
  const child = `sh -c 'echo $$ > ${folder}/pid; echo up >&2; exec sleep 60'`;
  const script = `trap 'echo ended >> ${folder}/log; exit 7' TERM; ${child} & wait`;
  const ended = await sh(script, () => { cancel.abort(); }, cancel.signal);
  assert.equal(ended.code, 7);
  assert.equal(await readFile(path.join(folder, "log"), "utf8"), "ended\n");
  const sleeper = Number(await readFile(path.join(folder, "pid"), "utf8"));
  const state = await readFile(`/proc/${sleeper}/stat`, "utf8").catch(() => "");
  assert.ok(state === "" || / [ZX] /.test(state), `the child is gone: ${state}`);
  await rm(folder, { recursive: true });
});

test("a program that is cancelled before it begins does not go on", async () => {
  assert.equal((await sh("sleep 60", undefined, AbortSignal.abort())).code, null);
});
