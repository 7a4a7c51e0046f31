import assert from "node:assert/strict";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import * as path from "node:path";

import type { Editor } from "./editor";
import type { Sandbox } from "./sandbox";
import { step } from "./steps";
import { demoTrace, ungradedTrace } from "./trace";
import { until } from "./until";

const archived = 12;

/** A workspace without a trace, but for a log that is none. */
export async function prepareQuiet(sandbox: Sandbox): Promise<void> {
  await rm(path.join(sandbox.workspace, "projects"), { recursive: true });
  await mkdir(path.dirname(sandbox.trace), { recursive: true });
  await sandbox.addLog();
  await sandbox.showActivityBar();
}

/** What a person is spared who has not opened a trace, and how few keys a grade takes back. */
export async function playQuiet(editor: Editor, sandbox: Sandbox): Promise<void> {
  const grades = async (): Promise<string[]> =>
    (await readFile(sandbox.trace, "utf8")).trimEnd().split("\n").map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ event_type }) => event_type === "correctness-recorded")
      .map(({ mechanical, qa, intent }) => [mechanical, qa, intent].map(String).join("/"));

  await step("where no trace is, nothing of it is to be seen", async () => {
    await editor.openFile(["logs"], "agent.jsonl");
    await editor.part("Explorer").waitFor();
    assert.equal(await editor.part("Drive Trace").count(), 0, "the icon of the activity bar");
    await editor.screenshot("no-traces");
  });

  await step("a folder of archived traces shows its runs, and no problem", async () => {
    await writeFile(sandbox.trace, ungradedTrace());
    await rm(path.join(sandbox.workspace, "logs"), { recursive: true }); // it may hold a part of any run
    for (let number = 1; number <= archived; number += 1) {
      const folder = path.join(sandbox.workspace, "archive", `run-${number}`);
      await mkdir(folder, { recursive: true });
      await writeFile(path.join(folder, "trace.jsonl"), demoTrace().replaceAll('"demo"', `"run-${number}"`));
    }
    await editor.part("Drive Trace").click();
    await editor.saidOf("run-1").filter({ hasText: /^INCORRECT|^not computable|^1 dispatch/ }).waitFor();
    assert.equal(await editor.badProblems(), "0", "problems in the status bar");
    await editor.run("View: Show Explorer");
    await until("no file in red", async () => (await editor.redFiles.count()) === 0);
    await editor.screenshot("quiet");
  });

  await step("an open trace shows its own problems, and a setting those of all", async () => {
    await editor.openFile(["archive", "run-3"], "trace.jsonl");
    await until("its problem", async () => (await editor.badProblems()) === "1");
    await sandbox.changeSettings({ "driveTrace.diagnostics.scope": "workspace" });
    await until("the problems of all", async () => (await editor.badProblems()) === String(archived));
    await sandbox.changeSettings({});
    await until("its own problem alone", async () => (await editor.badProblems()) === "1");
  });

  await step("the light bulb offers what mends a line, and no grade", async () => {
    await editor.quickOpen("projects/demo/trace.jsonl");
    await editor.closeSideBar();
    await editor.lenses.filter({ hasText: "not graded" }).first().waitFor();
    await editor.press("Control+End");
    await editor.press("Control+.");
    await editor.screenshot("no-grade-in-the-bulb");
    assert.equal(await editor.actions.filter({ hasText: "Record" }).count(), 0, "grades in the light bulb");
    await editor.press("Escape");
    await editor.press("Control+Home");
    await editor.press("Control+Shift+R");
    assert.equal(await editor.actions.filter({ hasText: "Record" }).count(), 0, "grades among the refactorings");
    await editor.press("Escape");
    assert.deepEqual(await grades(), []);
  });

  await step("a grade says what it makes of the run, and is undone by a line that is appended", async () => {
    await editor.press("Control+K");
    await editor.press("g");
    await editor.grade({ mechanical: "pass", qa: "pass", intent: "pass" });
    await editor.told(": CORRECT");
    await editor.verdict.filter({ hasText: "CORRECT" }).waitFor();
    await editor.answerToast("Undo the Last Grade…");
    await editor.dialog.filter({ hasText: "it becomes not computable" }).waitFor();
    await editor.screenshot("undo-grade");
    await editor.answer("Append");
    await editor.verdict.filter({ hasText: "not computable" }).waitFor();
    assert.deepEqual(await grades(), ["pass/pass/pass", "null/null/null"]);
    await editor.run("Notifications: Clear All Notifications");
  });

  await step("a pass that was recorded by mistake is set back in the picker", async () => {
    await editor.runAsking("Drive Trace: Record Verdict…", "How did it come out?");
    await editor.grade({ qa: "pass" });
    await editor.told("missing: mechanical, intent");
    await editor.runAsking("Drive Trace: Record Verdict…", "How did it come out?");
    const row = editor.choices.filter({ hasText: "qa" }).first();
    for (const turned of ["pass", "fail", "not recorded"]) {
      await row.click();
      await row.filter({ hasText: `→ ${turned}` }).waitFor();
    }
    await editor.screenshot("set-back");
    await editor.choices.filter({ hasText: "Record: " }).click();
    await until("the grade", async () => (await grades()).at(-1) === "null/null/null");
    await editor.run("Notifications: Clear All Notifications");
  });

  const going = path.join(sandbox.workspace, "wip", "drive-trace", "orphan-next.jsonl");

  await step("a Tab writes the event that is likely next", async () => {
    await mkdir(path.dirname(going), { recursive: true });
    await writeFile(going, `${demoTrace().split("\n").slice(0, 5).join("\n  ")}\n`.replaceAll('"demo"', '"orphan-next"'));
    await editor.quickOpen("wip/drive-trace/orphan-next.jsonl");
    await editor.lenses.filter({ hasText: "not graded" }).first().waitFor();
    await editor.press("Control+End");
    await editor.run("Trigger Inline Suggestion");
    await editor.ghost.first().waitFor();
    await editor.screenshot("next-event");
    await editor.press("Tab");
    await editor.lines.filter({ hasText: '"round-start"' }).first().waitFor();
    await editor.revert();
  });

  await step("an event that is appended is not indented, as the line before it is", async () => {
    await editor.press("Control+Home");
    await editor.type(" "); // the editor's own change: then the server does not append to the file
    await editor.runAsking("Drive Trace: Append Event…", "Which event of orphan-next");
    await editor.choices.filter({ hasText: "round-start" }).first().click();
    await editor.lines.filter({ hasText: '"round-start"' }).first().waitFor();
    await editor.save();
    const lines = (await readFile(going, "utf8")).trimEnd().split("\n").slice(-2);
    assert.deepEqual(lines.map((line) => line.slice(0, line.indexOf('"'))), ["  {", "{"]);
    await editor.selectTab("…/demo");
  });

  await step("Enter keeps a record on one line", async () => {
    await editor.press("Control+End");
    await editor.type("{");
    await editor.press("Escape");
    await editor.press("Enter");
    await until("the braces on one line", async () => (await editor.lines.filter({ hasText: /^\{\}$/ }).count()) === 1);
    await editor.revert();
  });
}
