import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";

import type { Editor } from "./editor";
import type { Sandbox } from "./sandbox";
import { step } from "./steps";
import { until } from "./until";

export const agentsEvents = 12;
const payload = '{"cadence":"per-slice-merge","drift_signal_count":0,"max_drift_severity":"none","recommended_next":"go on"}';
const emit = `drive-trace emit --trace-file "$0" --project-run-id demo --event health-check-fired --payload '${payload}'`;

/** Grades and an event are added while an agent appends with the command line; the trace is in front. */
export async function playLiveAgent(editor: Editor, sandbox: Sandbox): Promise<void> {
  await step("nothing is lost of what is recorded, typed and saved while an agent appends", async () => {
    const before = await readFile(sandbox.trace, "utf8");
    const recording = playAgent(sandbox, sandbox.trace);
    await record(editor, "qa", "fail");
    await record(editor, "qa", "pass");
    await recording;
    await appendDispatchEnd(editor);
    await playAgent(sandbox, sandbox.trace); // while there is something that is not saved
    await editor.save();
    // What nobody has filled in is no JSON yet.
    const lines = (await readFile(sandbox.trace, "utf8")).slice(before.length).trimEnd().split("\n");
    const part = (pattern: RegExp): string[] => lines.map((line) => pattern.exec(line)?.[1] ?? line);
    assert.deepEqual(part(/"event_type":"([^"]+)"/).sort(), [
      "correctness-recorded", "correctness-recorded", "dispatch-end",
      ...Array<string>(2 * agentsEvents).fill("health-check-fired"),
    ]);
    assert.equal(new Set(part(/"event_id":"([^"]+)"/)).size, lines.length, "each event once");
    await editor.run("Notifications: Clear All Notifications");
    await rm(`${sandbox.trace}.provenance.ndjson`); // which would say what is taken back now
    await writeFile(sandbox.trace, before);
    await until("the trace as it was", async () => (await editor.lines.filter({ hasText: "go on" }).count()) === 0);
  });
}

/** Appends with the command line, one event after another, until it ends. */
export async function playAgent(sandbox: Sandbox, file: string): Promise<void> {
  const loop = `for _ in $(seq ${agentsEvents}); do ${emit}; done`;
  const child = spawn("/bin/sh", ["-c", loop, file], { env: sandbox.environment, stdio: "ignore" });
  await new Promise((resolve) => child.once("exit", resolve));
}

async function record(editor: Editor, component: string, grade: "pass" | "fail"): Promise<void> {
  await editor.runAsking("Drive Trace: Record Verdict…", "How did it come out?");
  await editor.grade({ [component]: grade });
  await editor.told("recorded on line");
  await editor.run("Notifications: Clear All Notifications");
}

async function appendDispatchEnd(editor: Editor): Promise<void> {
  await editor.runAsking("Drive Trace: Append Event…", "Which event of demo");
  await editor.input.fill("dispatch-end");
  await editor.choices.filter({ hasText: "dispatch-end" }).first().click();
  await editor.dirtyTab.waitFor();
  await editor.press("Escape");
}
