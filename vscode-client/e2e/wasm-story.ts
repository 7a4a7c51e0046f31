import assert from "node:assert/strict";

import type { Editor } from "./editor";
import { isDriveTrace, processesWith } from "./processes";
import type { Sandbox } from "./sandbox";
import { openTrace, playLaterStarts, step } from "./steps";

/** A machine without a Python: the server runs in WebAssembly, and nothing has to be installed. */
export async function playWithoutPython(editor: Editor, sandbox: Sandbox): Promise<void> {
  const times = new Map<string, number>();

  await step("a squiggle, in a window that has just been opened", async () => {
    times.set("in a cold window, from the click on the trace", await openTrace(editor));
    assert.deepEqual((await processesWith(sandbox.mark)).filter(isDriveTrace), [], "it is no process of the machine");
    assert.equal(await editor.toast.count(), 0, "nothing has to be installed");
    await editor.screenshot("wasm-squiggle");
  });

  await playLaterStarts(editor, times);

  await step("the status bar says how the server runs", async () => {
    const status = await editor.languageStatus();
    await status.getByText("The server is running in WebAssembly: no Python was found").waitFor();
    await status.getByText("Restart").waitFor();
    await editor.screenshot("wasm-status");
  });

  await step("a command that starts programs says what is missing", async () => {
    await editor.run("Drive Trace: Run the Gates…");
    await editor.toast.filter({ hasText: "Install Python 3.11 or newer" }).waitFor();
    await editor.screenshot("wasm-gate");
  });
}
