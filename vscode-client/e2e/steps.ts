import { readFile } from "node:fs/promises";

import type { Editor } from "./editor";
import { isDriveTrace, processesWith, type RunningProcess } from "./processes";
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
