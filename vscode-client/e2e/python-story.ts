import assert from "node:assert/strict";
import * as path from "node:path";

import type { Editor } from "./editor";
import type { Sandbox } from "./sandbox";
import { openTrace, runningServer, step } from "./steps";

/** A workspace with environments of its own, of which the Python extension knows the active one. */
export async function playPythonStory(editor: Editor, sandbox: Sandbox): Promise<void> {
  const choose = (environment: string): Promise<void> =>
    sandbox.changeSettings({ "python.defaultInterpreterPath": path.join(sandbox.workspace, environment, "bin", "python") });

  await step("the server of the workspace's environment goes before all others", async () => {
    await choose("with-server");
    await openTrace(editor);
    assert.match((await runningServer(sandbox)).command, /\/bin\/drive-trace serve$/);
  });

  await step("another environment without one gets the extension's own, on its Python", async () => {
    const before = await runningServer(sandbox);
    await choose("without-server");
    assert.match((await runningServer(sandbox, before)).command, /server\/launch\.py serve$/);
  });

  await step("a third one that makes no difference leaves the server alone", async () => {
    const before = await runningServer(sandbox);
    await editor.run("Drive Trace: Show Log");
    await choose("alike");
    await editor.output.filter({ hasText: "asks for no other server" }).first().waitFor();
    assert.equal((await runningServer(sandbox)).pid, before.pid);
  });
}
