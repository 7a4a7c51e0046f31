import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { test } from "node:test";

import { bridgeTo } from "../src/grading/editor-model";

/** What a shell's command writes that is given a text, and how it ends. */
async function asked(command: string, environment: object, prompt: string): Promise<[string, number | null]> {
  const child = spawn(command, { shell: true, env: { ...process.env, ...environment }, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<number | null>((resolve) => { child.on("close", resolve); });
  child.stdin.end(prompt);
  return [await text(child.stdout), await ended];
}

test("a command asks a model of this process, however long the prompt is", async () => {
  const bridge = await bridgeTo((prompt) => Promise.resolve(`{"of":${prompt.length}, "é":1}`), () => undefined);
  const long = "é\n".repeat(200_000);
  assert.deepEqual(await asked(bridge.command, bridge.environment, long), ['{"of":400000, "é":1}', 0]);
  assert.deepEqual(await asked(bridge.command, bridge.environment, ""), ['{"of":0, "é":1}', 0]);
  bridge.close();
});

test("where the model gives no reply there is none, and it is told why", async () => {
  const told: unknown[] = [];
  const bridge = await bridgeTo(() => Promise.reject(new Error("not agreed")), (error) => { told.push(error); });
  const [reply] = await asked(bridge.command, bridge.environment, "hello");
  assert.equal(reply, "");
  assert.match(String(told[0]), /not agreed/);
  bridge.close();
  assert.notEqual((await asked(bridge.command, bridge.environment, "hello"))[1], 0, "and none once it is closed");
});
