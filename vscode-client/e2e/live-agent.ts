import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";

import type { Editor } from "./editor";
import type { Sandbox } from "./sandbox";
import { step } from "./steps";
import { until } from "./until";

const count = 25;
const payload = '{"cadence":"per-slice-merge","drift_signal_count":0,"max_drift_severity":"none","recommended_next":"go on"}';
const emit = `drive-trace emit --trace-file "$0" --project-run-id demo --event health-check-fired --payload '${payload}'`;

/** Grades and an event are added while an agent appends with the command line; the trace is in front. */
export async function playLiveAgent(editor: Editor, sandbox: Sandbox): Promise<void> {
  await step("nothing is lost of what is recorded, typed and saved while an agent appends", async () => {
    const before = await readFile(sandbox.trace, "utf8");
    const agent = spawn("/bin/sh", ["-c", `for _ in $(seq ${count}); do ${emit}; done`, sandbox.trace], {
      env: sandbox.environment, stdio: "ignore",
    });
    const ended = new Promise((resolve) => agent.once("exit", resolve));
    try {
      await record(editor, "qa", "fail");
      await appendDispatchEnd(editor);
      await record(editor, "qa", "pass");
      await appendDispatchEnd(editor);
      await ended;
    } finally {
      agent.kill();
    }
    // What nobody has filled in is no JSON yet.
    const lines = (await readFile(sandbox.trace, "utf8")).slice(before.length).trimEnd().split("\n");
    const part = (pattern: RegExp): string[] => lines.map((line) => pattern.exec(line)?.[1] ?? line);
    assert.deepEqual(part(/"event_type":"([^"]+)"/).sort(), [
      "correctness-recorded", "correctness-recorded", "dispatch-end", "dispatch-end",
      ...Array<string>(count).fill("health-check-fired"),
    ]);
    assert.equal(new Set(part(/"event_id":"([^"]+)"/)).size, lines.length, "each event once");
    await editor.run("Notifications: Clear All Notifications");
    await writeFile(sandbox.trace, before);
    await until("the trace as it was", async () => (await editor.lines.filter({ hasText: "go on" }).count()) === 0);
  });
}

async function record(editor: Editor, component: string, grade: string): Promise<void> {
  await editor.runAsking("Drive Trace: Record Verdict…", "What has been judged?");
  await editor.choices.filter({ hasText: component }).first().click();
  // The first list names the grades, too, but each after its component.
  await editor.choices.filter({ hasText: new RegExp(`^${grade}`) }).click();
  await editor.toast.filter({ hasText: "recorded on line" }).first().waitFor();
  await editor.run("Notifications: Clear All Notifications");
}

async function appendDispatchEnd(editor: Editor): Promise<void> {
  await editor.runAsking("Drive Trace: Append Event…", "Which event of demo");
  await editor.input.fill("dispatch-end");
  await editor.choices.filter({ hasText: "dispatch-end" }).first().click();
  await editor.dirtyTab.waitFor();
  await editor.press("Escape");
  await editor.save();
}
