import assert from "node:assert/strict";

import type { Editor } from "./editor";
import type { Sandbox } from "./sandbox";
import { openTrace, runningServer, step } from "./steps";
import { until } from "./until";

/** A machine without a Python: the server runs in WebAssembly, and nothing has to be installed. */
export async function playWithoutPython(editor: Editor, sandbox: Sandbox): Promise<void> {
  const times = new Map<string, number>();

  await step("a squiggle, in a window that has just been opened", async () => {
    times.set("in a cold window, from the click on the trace", await openTrace(editor));
    assert.match((await runningServer(sandbox)).command, /dist\/wasm\.mjs \S+ serve$/);
    assert.equal(await editor.toast.count(), 0, "nothing has to be installed");
    await editor.screenshot("wasm-squiggle");
  });

  await step("again, in a window that is loaded later", async () => {
    await editor.run("View: Close All Editors");
    const before = await runningServer(sandbox);
    await editor.reload();
    await runningServer(sandbox, before);
    times.set("in a window loaded later", await openTrace(editor));
  });

  await step("again, from a server that is started anew", async () => {
    const before = await runningServer(sandbox);
    const asked = Date.now();
    await editor.run("Drive Trace: Restart Server");
    await runningServer(sandbox, before);
    await until("a squiggle", async () => (await editor.errorSquiggles()).length > 0);
    times.set("after Restart Server", Date.now() - asked);
  });
  console.log("      milliseconds to the squiggle:");
  times.forEach((time, which) => { console.log(`      ${which}: ${time}`); });

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
