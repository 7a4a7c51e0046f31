import assert from "node:assert/strict";

import type { Editor } from "./editor";
import { packageMemoryFiles } from "./memory-files";
import { isDriveTrace, processesWith } from "./processes";
import type { Sandbox } from "./sandbox";
import { openTrace, step } from "./steps";
import { otherTrace, shortTrace } from "./trace";

export function packageFiles(sandbox: Sandbox): Promise<string> {
  const files = { "projects/demo/trace.jsonl": shortTrace(), "projects/other/trace.jsonl": otherTrace() };
  return packageMemoryFiles(sandbox.workshop, files, ["projects/other/trace.jsonl", otherTrace()]);
}

/** A window whose folder is on no disk: the extension runs in the browser, and so does its server. */
export async function playInBrowser(editor: Editor, sandbox: Sandbox): Promise<void> {
  await step("a squiggle, in a window that has just been opened", async () => {
    console.log(`      ${await openTrace(editor, ["projects", "demo"])} ms`);
    assert.deepEqual((await processesWith(sandbox.mark)).filter(isDriveTrace), []);
    await editor.screenshot("web-squiggle");
  });
}
