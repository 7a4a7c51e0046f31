import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import * as path from "node:path";

import type { Editor } from "./editor";
import { isDriveTrace, kill, processesWith, type RunningProcess, settled } from "./processes";
import type { Sandbox } from "./sandbox";
import { exists, openTrace, playLaterStarts, runningServer, step } from "./steps";
import { until } from "./until";

/** A machine with nothing but a Python, and what becomes of a server that dies. */
export async function playBundledStory(editor: Editor, sandbox: Sandbox): Promise<void> {
  await step("where there is no trace, the extension starts no server", async () => {
    await editor.openFolder(path.join(sandbox.workspace, "logs"));
    await editor.run("Drive Trace: Show Log");
    await editor.panel.waitFor();
    const servers = async (): Promise<RunningProcess[]> => (await processesWith(sandbox.mark)).filter(isDriveTrace);
    // The window before had a trace.
    await until("no server", async () => (await servers()).length === 0);
    await settled(sandbox.mark);
    assert.deepEqual(await servers(), []);
  });

  await step("where there is one, the server inside the .vsix is started", async () => {
    await editor.openFolder(sandbox.workspace);
    const { command } = await runningServer(sandbox);
    assert.ok(command.includes(sandbox.extensions), `runs from the extension: ${command}`);
    assert.match(command, / -I -S .*server\/launch\.py serve$/);
  });

  const times = new Map<string, number>();

  await step("a squiggle, as soon as it has been compiled", async () => {
    times.set("the first one of all", await openTrace(editor));
    await editor.screenshot("bundled-squiggle");
  });

  await step("nothing was written where the extension is installed", async () => {
    const files = await readdir(sandbox.extensions, { recursive: true });
    assert.deepEqual(files.filter((file) => file.endsWith(".pyc")), []);
    assert.ok(files.some((file) => file.endsWith("server/launch.py")), "the folder is the right one");
  });

  await playLaterStarts(editor, times, sandbox);

  await step("a file that the settings name is a trace, too", async () => {
    await sandbox.addLog();
    await editor.openFile(["logs"], "agent.jsonl");
    await until("the language mode", async () => (await editor.languageMode()) === "JSON Lines");
    await sandbox.changeSettings({ "driveTrace.files": ["logs/*.jsonl"] });
    await until("the language mode", async () => (await editor.languageMode()) === "Drive Trace");
    await until("a squiggle", async () => (await editor.errorSquiggles()).length > 0);
    await sandbox.changeSettings({});
    await until("the language mode", async () => (await editor.languageMode()) === "JSON Lines");
    await editor.selectTab("trace.jsonl");
  });

  await step("a server that is killed comes back, four times", async () => {
    let server = await runningServer(sandbox);
    for (const pause of [1, 2, 4, 8]) {
      await until("a squiggle", async () => (await editor.errorSquiggles()).length > 0);
      kill([server]);
      await until("no squiggle", async () => (await editor.errorSquiggles()).length === 0);
      server = await runningServer(sandbox, server);
      assert.equal(await editor.toast.count(), 0, `notifications after a pause of ${pause} s`);
    }
    await until("a squiggle", async () => (await editor.errorSquiggles()).length > 0);
  });

  await step("at the fifth time it is said that nothing is checked any more", async () => {
    kill([await runningServer(sandbox)]);
    const toast = editor.toast.filter({ hasText: "ended 5 times" });
    await toast.waitFor();
    await toast.getByText("Show Log").waitFor();
    await editor.screenshot("bundled-ended");
    await toast.getByText("Restart", { exact: true }).click();
    await until("a squiggle", async () => (await editor.errorSquiggles()).length > 0);
  });

  await step("a Python that cannot run it is told, with a way out", async () => {
    await sandbox.changeSettings({ "driveTrace.server.python": "/bin/false" });
    const toast = editor.toast.filter({ hasText: "Python 3.11 or newer is needed" }).filter({ hasText: '"/bin/false" is none' });
    await toast.waitFor();
    await editor.screenshot("bundled-no-python");
    await toast.getByText("Open Setting").click();
    await editor.settings.filter({ hasText: "Server: Python" }).waitFor();
    await sandbox.changeSettings({});
    await runningServer(sandbox);
  });
}

/** A workspace whose own settings name commands to run. */
export async function playUntrustedStory(editor: Editor, sandbox: Sandbox): Promise<void> {
  await step("a workspace that is not trusted has its squiggle, from the extension's own server", async () => {
    await editor.restricted.waitFor();
    await openTrace(editor);
    assert.match((await runningServer(sandbox)).command, /server\/launch\.py serve$/);
    await editor.screenshot("untrusted-squiggle");
  });

  await step("no gate of it is run, and no judge is asked", async () => {
    for (const command of ["Run the Gates…", "Judge This Run…"]) {
      await editor.run(`Drive Trace: ${command}`);
      await editor.toast.filter({ hasText: "not trusted, so nothing is run or sent" }).waitFor();
      await editor.run("Notifications: Clear All Notifications");
      await editor.toast.waitFor({ state: "hidden" });
    }
  });

  await step("none of the commands that it names was run", async () => {
    assert.deepEqual(await sandbox.commandsRun(), []);
    assert.ok(await exists(sandbox.trace));
  });

  await step("once it is trusted, its command is run instead", async () => {
    await editor.trustWorkspace();
    await until("the command", async () => (await sandbox.commandsRun()).includes("command"));
    await editor.screenshot("untrusted-trusted");
  });
}
