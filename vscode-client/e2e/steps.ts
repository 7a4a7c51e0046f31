import { readFile } from "node:fs/promises";
import * as path from "node:path";

import type { Editor } from "./editor";
import { isDriveTrace, processesWith, type RunningProcess, settled } from "./processes";
import type { Sandbox } from "./sandbox";
import { until } from "./until";

/** Plays a step of a story, and says how it went. */
export async function step(what: string, play: () => Promise<void>): Promise<void> {
  const start = Date.now();
  try {
    await play();
  } catch (error) {
    throw new Error(`not so: ${what}`, { cause: error });
  }
  console.log(`  ok  ${what} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
}

/** Opens the trace; gives the milliseconds from the double click to the first squiggle. */
export async function openTrace(editor: Editor, folders = ["projects"]): Promise<number> {
  const opened = await editor.openFile(folders, "trace.jsonl");
  await until("a squiggle", async () => (await editor.errorSquiggles()).length > 0);
  return Date.now() - opened;
}

/** Exports the run under the cursor, beside its trace if no file is named. */
export async function exportForPerfetto(editor: Editor, file?: string): Promise<void> {
  await editor.runAsking("Drive Trace: Export This Run…", "For which viewer");
  await editor.choices.filter({ hasText: "Perfetto" }).click();
  await until("the question for a file", async () => (await editor.input.inputValue()).includes("trace.perfetto.json"));
  await (file && editor.input.fill(file));
  await editor.input.locator("xpath=ancestor::*[contains(@class, 'quick-input-widget')]").getByText("OK", { exact: true }).click();
  await editor.told(`${path.basename(file ?? "trace.perfetto.json")} was written`);
}

/** Starts the server again in two ways, and says how long each took beside those before. Without a sandbox it is no process. */
export async function playLaterStarts(editor: Editor, times: Map<string, number>, sandbox?: Sandbox): Promise<void> {
  const settle = async (): Promise<void> => { await (sandbox && settled(sandbox.mark)); }; // what is not to count

  await step("again, in a window that is loaded later", async () => {
    await editor.run("View: Close All Editors");
    const before = await (sandbox && runningServer(sandbox));
    await editor.reload();
    await (sandbox && runningServer(sandbox, before));
    await settle();
    times.set("in a window loaded later", await openTrace(editor));
  });

  await step("again, from a server that is started anew", async () => {
    await settle();
    const asked = Date.now();
    await editor.run("Drive Trace: Restart Server");
    await until("no squiggle", async () => (await editor.errorSquiggles()).length === 0);
    await until("a squiggle", async () => (await editor.errorSquiggles()).length > 0);
    times.set("after Restart Server", Date.now() - asked);
  });
  console.log("      milliseconds to the squiggle:");
  times.forEach((time, which) => { console.log(`      ${which}: ${time}`); });
}

/** The server that runs in a sandbox, once there is one other than `before`. */
export function runningServer(sandbox: Sandbox, before?: RunningProcess): Promise<RunningProcess> {
  return until("a server", async () => {
    const servers = (await processesWith(sandbox.mark)).filter(isDriveTrace);
    return servers.find(({ pid }) => pid !== before?.pid);
  });
}

export async function exists(file: string): Promise<boolean> {
  return readFile(file).then(() => true, () => false);
}
