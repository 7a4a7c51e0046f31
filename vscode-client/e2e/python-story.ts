import assert from "node:assert/strict";
import * as path from "node:path";

import type { Editor } from "./editor";
import type { Sandbox } from "./sandbox";
import { openTrace, runningServer, step } from "./steps";
import { until } from "./until";

/** A workspace with environments of its own, of which the Python extension knows the active one. */
export async function playPythonStory(editor: Editor, sandbox: Sandbox): Promise<void> {
  const choose = (environment: string): Promise<void> =>
    sandbox.changeSettings({ "python.defaultInterpreterPath": path.join(sandbox.workspace, environment, "bin", "python") });

  await step("the server of the workspace's environment goes before all others", async () => {
    await choose("with-server");
    await openTrace(editor);
    // What the Python extension says may come later than the first start.
    await until("the environment's server", async () => isOfEnvironment((await runningServer(sandbox)).command));
  });

  await step("another environment without one gets the extension's own, on its Python", async () => {
    const before = await runningServer(sandbox);
    await choose("without-server");
    assert.match((await runningServer(sandbox, before)).command, /server\/launch\.py serve$/);
    await until("its answer", async () => (await editor.errorSquiggles()).length > 0);
  });

  await step("a third one that makes no difference leaves the server alone", async () => {
    const before = await runningServer(sandbox);
    await editor.run("Drive Trace: Show Log");
    const unchanged = editor.output.filter({ hasText: "asks for no other server" });
    const count = await unchanged.count();
    await choose("alike");
    await until("another look", async () => (await unchanged.count()) > count);
    assert.equal((await runningServer(sandbox)).pid, before.pid);
  });
}

function isOfEnvironment(command: string): boolean {
  return command.endsWith("/bin/drive-trace serve");
}
