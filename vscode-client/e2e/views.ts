import assert from "node:assert/strict";
import { appendFile, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import * as path from "node:path";

import type { Locator } from "playwright-core";

import type { Editor } from "./editor";
import type { Sandbox } from "./sandbox";
import { playLiveAgent } from "./live-agent";
import { bar, playColumns, playReturns, playTimeline, width } from "./panels";
import { step } from "./steps";
import { appended, appendedNow, longTrace, otherTrace, repairedTrace } from "./trace";
import { until } from "./until";

/** What a person sees who watches and grades a run, with the views beside the file. */
export async function playViews(editor: Editor, sandbox: Sandbox): Promise<void> {
  await step("the view Runs shows every run, though no trace is open", async () => {
    // VS Code may pass by a file that is put into a folder at the moment when that is made.
    await mkdir(path.dirname(sandbox.longTrace), { recursive: true });
    await editor.run("Focus on Runs View");
    await editor.saidOf("demo").filter({ hasText: /^CORRECT\b/ }).waitFor();
    await editor.saidOf("other").filter({ hasText: /^not computable\b/ }).waitFor();
    await editor.run("View: Show Explorer");
  });

  await step("the status bar says the verdict of the run under the cursor", async () => {
    await editor.openFile(["projects", "demo"], "trace.jsonl");
    await editor.closeSideBar();
    await editor.verdict.filter({ hasText: /^\W*CORRECT$/ }).waitFor();
    await editor.verdict.hover();
    await editor.hover.filter({ hasText: "Tier 1, correctness" }).first().waitFor();
    await editor.screenshot("status-bar");
    await editor.leaveHover();
  });

  await step("the timeline shows dispatches and rounds, and a click shows the line", async () => {
    await editor.run("Drive Trace: Open Timeline");
    await bar(editor, /^implement-parser/).waitFor();
    assert.equal(await editor.preview.locator(".bars a").count(), 2);
    await bar(editor, /^round 1 · satisfied/).click();
    await editor.lineNumber.filter({ hasText: /^6$/ }).waitFor();
    await editor.preview.locator(".bars a.here").waitFor();
    await editor.screenshot("timeline");
  });

  await step("the keys that follow a click are the timeline's, and write nothing into the trace", async () => {
    const before = await width(editor);
    await editor.press("+");
    await until("a wider timeline", async () => (await width(editor)) > before);
    await editor.press("0");
    await editor.type("{+");
    await editor.run("File: Save All Files");
    assert.equal(await readFile(sandbox.trace, "utf8"), repairedTrace());
  });

  await step("the timeline follows what is appended on disk, and is walked by keys", async () => {
    const dispatch_id = "5d2e3c52-9b0e-4c35-9a3a-1f2d3c4b5a69";
    const started = { dispatch_id, dispatch_name: "<b>follow-up</b>", subagent_type: "fixer", model: null, parent_dispatch_id: null };
    await appendFile(sandbox.trace, appended(33, "dispatch-start", started));
    await bar(editor, /^implement-parser/).focus();
    await bar(editor, /^<b>follow-up<\/b>/).waitFor();
    await editor.press("End");
    await editor.press("Enter");
    await editor.cursor.filter({ hasText: "Ln 14," }).waitFor();
  });

  await playTimeline(editor);

  await step("a verdict is recorded, and merged with what was recorded before", async () => {
    await editor.runAsking("Drive Trace: Record Verdict…", "How did it come out?");
    await editor.inputTitle.filter({ hasText: "demo · projects/demo/trace.jsonl" }).waitFor();
    const recording = editor.choices.filter({ hasText: "now: CORRECT" }).filter({ hasText: "; grade it again" });
    await recording.filter({ hasText: "Nothing to record yet" }).waitFor();
    for (const key of ["ArrowDown", "ArrowDown", "Space", "Enter"]) {
      await editor.press(key);
    }
    await editor.choices.filter({ hasText: "intent" }).filter({ hasText: "pass → fail" }).waitFor();
    await recording.filter({ hasText: "Record: INCORRECT — intent failed" }).waitFor();
    await editor.screenshot("record");
    await editor.press("ArrowDown");
    await editor.press("Enter");
    await editor.told("recorded on line 15");
    await editor.verdict.filter({ hasText: "INCORRECT — intent failed" }).waitFor();
    await editor.toast.getByText("Show Line", { exact: true }).click();
    await editor.cursor.filter({ hasText: "Ln 15, Col 1" }).waitFor();
    const lines = (await readFile(sandbox.trace, "utf8")).trimEnd().split("\n");
    assert.equal(lines.length, 15, "lines on disk");
    const { mechanical, qa, intent } = JSON.parse(lines.at(-1) ?? "") as Record<string, unknown>;
    assert.deepEqual({ mechanical, qa, intent }, { mechanical: "pass", qa: "pass", intent: "fail" });
  });

  await step("the report opens beside the file and follows what is appended on disk", async () => {
    await editor.run("Drive Trace: Open Report");
    await editor.preview.locator(".headline.incorrect").waitFor();
    await editor.preview.locator("details").first().locator("summary").click();
    const seen = await editor.preview.locator("#assertions").elementHandle();
    const summary = editor.preview.locator("summary:focus");
    await summary.evaluate((element) => { element.scrollIntoView({ block: "center" }); });
    const before = await topOf(summary);
    await appendFile(sandbox.trace, appendedNow(40, "correctness-recorded", { mechanical: "pass", qa: "pass", intent: "pass" }));
    await editor.preview.locator(".headline.correct").waitFor({ state: "attached" });
    assert.ok(Math.abs((await topOf(summary)) - before) <= 2, "what has the focus stays where it is");
    assert.ok(await seen.evaluate((heading) => heading.isConnected), "what has not changed is not replaced");
    assert.equal(await editor.preview.locator("details[open]").count(), 1, "what was unfolded stays so");
    await editor.preview.evaluate(() => { window.scrollTo({ top: 0 }); });
    await editor.lenses.filter({ hasText: "superseded by line 16" }).first().waitFor();
    await editor.screenshot("live-report");
  });

  await playReturns(editor, sandbox);

  await step("an event is appended with its fields filled in", async () => {
    await editor.selectTab("trace.jsonl");
    await editor.runAsking("Drive Trace: Append Event…", "Which event of demo");
    await editor.choices.filter({ hasText: "tokens-recorded" }).first().waitFor();
    await editor.screenshot("append");
    await editor.input.fill("dispatch-end");
    await editor.choices.filter({ hasText: "dispatch-end" }).first().click();
    await editor.cursor.filter({ hasText: "Ln 17," }).waitFor();
    await editor.lines.filter({ hasText: '"dispatch-end"' }).first().waitFor();
    await editor.press("Escape");
    await editor.revert();
  });

  await playLiveAgent(editor, sandbox);

  await step("the end of the file stays in view while an agent appends", async () => {
    await editor.run("Drive Trace: Follow Tail");
    const drift = { cadence: "per-slice-merge", drift_signal_count: 0, max_drift_severity: "none" };
    for (let minute = 50; minute < 80; minute += 1) {
      const recommended_next = `step ${minute}`;
      await appendFile(sandbox.trace, appended(minute, "health-check-fired", { ...drift, recommended_next }));
    }
    await editor.lines.filter({ hasText: "step 79" }).first().waitFor();
  });

  await step("whoever types further up stays there, and stops following from the report", async () => {
    await editor.press("Control+Home");
    await editor.press("Space");
    await editor.lines.filter({ hasText: "project-started" }).first().waitFor();
    await editor.selectReport("Report: demo");
    await editor.run("Drive Trace: Stop Following Tail");
    assert.equal(await editor.lines.filter({ hasText: "step 79" }).count(), 0, "the end, out of view");
    await editor.selectTab("trace.jsonl");
    await editor.revert();
  });

  await step("the view Runs shows every run with its verdict, and opens it", async () => {
    await editor.run("Focus on Runs View");
    await editor.saidOf("demo").filter({ hasText: /^CORRECT\b/ }).waitFor();
    await editor.saidOf("other").filter({ hasText: /^not computable: not graded/ }).waitFor();
    await editor.aboveRows.filter({ hasText: "1 CORRECT · 1 not computable" }).waitFor();
    await editor.rowOf("demo").and(editor.chosenRow).waitFor();
    await editor.rowOf("demo").locator(".monaco-tl-twistie").click();
    await editor.runs.filter({ hasText: /^parse-input/ }).waitFor();
    await editor.leaveHover();
    await editor.screenshot("runs");
    await editor.rowOf("other").click();
    await editor.verdict.filter({ hasText: "not computable" }).waitFor();
    await editor.cursor.filter({ hasText: "Ln 1, Col 1" }).waitFor();
  });

  await step("it is grouped as a person chooses, and a click on a dispatch shows its line", async () => {
    await editor.runAsking("Drive Trace: Group and Sort Runs…", "How are the runs");
    await editor.choices.filter({ hasText: "Dispatch" }).first().click();
    await editor.runs.filter({ hasText: /^implement-parser/ }).click();
    await editor.cursor.filter({ hasText: "Ln 5," }).waitFor();
    await editor.runAsking("Drive Trace: Group and Sort Runs…", "How are the runs");
    await editor.choices.filter({ hasText: "Folder" }).first().click();
    await editor.rowOf("projects/other").waitFor();
    await editor.screenshot("runs-by-folder");
    await editor.rowOf("other").click();
    await editor.verdict.filter({ hasText: "not computable" }).waitFor();
  });

  await step("a run is compared with another, and what is unknown has to be vouched for", async () => {
    await editor.pickFor(editor.rowOf("demo"), "Select Runs for Compare");
    await editor.pickFor(editor.rowOf("other"), "Compare Runs with Selected");
    await editor.tab("other against demo: not comparable").waitFor();
    await editor.toast.filter({ hasText: "not recorded for all of these runs: case, " }).getByText("Vouch for It…").click();
    await editor.inputTitle.filter({ hasText: "What do you know to be alike on both sides?" }).waitFor();
    for (const each of await editor.choices.all()) {
      await each.click();
    }
    await editor.press("Enter");
    await editor.tab("other against demo: cannot tell").waitFor();
    const page = await editor.webviewWith("svg.intervals");
    await page.getByText("the gate does not decide").first().waitFor();
    await editor.screenshot("comparison");
    await editor.closeTab("other against demo: cannot tell");
  });

  await step("with the focus in a report, a whole grade goes into the report's trace as one event", async () => {
    await editor.run("Drive Trace: Open Report");
    await editor.tab("Report: other").waitFor();
    await editor.selectTab("trace.jsonl");
    await editor.verdict.filter({ hasText: /^\W*CORRECT$/ }).waitFor();
    await editor.selectReport("Report: other");
    await editor.press("Control+K");
    await editor.press("g");
    await editor.inputTitle.filter({ hasText: "other · projects/other/trace.jsonl" }).waitFor();
    await editor.screenshot("record-from-report");
    await editor.grade({ mechanical: "pass", qa: "fail", intent: "pass" });
    await editor.saidOf("other").filter({ hasText: /^INCORRECT — qa failed/ }).waitFor();
    assert.equal((await readFile(sandbox.otherTrace, "utf8")).match(/correctness-recorded/g)?.length, 1, "one event");
    await editor.saidOf("demo").filter({ hasText: /^CORRECT\b/ }).waitFor();
    await rm(`${sandbox.otherTrace}.provenance.ndjson`);
    await writeFile(sandbox.otherTrace, otherTrace());
    await editor.saidOf("other").filter({ hasText: /^not computable: not graded/ }).waitFor();
    await editor.run("Notifications: Clear All Notifications");
  });

  await step("traces that a setting names are among the runs at once", async () => {
    await writeFile(path.join(sandbox.workspace, "logs", "far.log"), otherTrace("far"));
    await sandbox.changeSettings({ "driveTrace.files": ["logs/*.log"] });
    await editor.saidOf("far").filter({ hasText: /^not computable/ }).waitFor();
    await sandbox.changeSettings({});
    await editor.saidOf("far").waitFor({ state: "detached" });
  });

  await step("without a server the views say so, and keep what they know", async () => {
    await sandbox.changeSettings({ "driveTrace.server.command": "no-such-program" });
    await editor.aboveRows.filter({ hasText: "The server is not running" }).waitFor();
    await editor.saidOf("demo").filter({ hasText: /^CORRECT\b/ }).waitFor();
    await editor.run("Drive Trace: Record Verdict…");
    await editor.told("the server is not running, so nothing was done");
    await editor.run("View: Focus First Editor Group"); // of the report, VS Code shows no status of a language
    await (await editor.languageStatus()).filter({ hasText: "The server is not running: nothing is checked" }).waitFor();
    await editor.screenshot("no-server");
    await sandbox.changeSettings({});
    await editor.aboveRows.filter({ hasText: "The server is not running" }).waitFor({ state: "hidden" });
    await (await editor.languageStatus()).filter({ hasText: /The server is running.*drive-trace serve/ }).waitFor();
    await editor.screenshot("server");
    await editor.run("Notifications: Clear All Notifications");
  });

  await step("it is filtered as somebody types, and follows what is appended on disk", async () => {
    await editor.runAsking("Drive Trace: Filter Runs…", "Words of a run");
    await editor.input.fill("OTHER");
    await editor.saidOf("demo").waitFor({ state: "detached" });
    await editor.saidOf("other").waitFor();
    await editor.press("Enter");
    await editor.run("Drive Trace: Clear Filter of Runs");
    await appendFile(sandbox.trace, appendedNow(90, "correctness-recorded", { mechanical: "fail", qa: null, intent: "pass" }));
    await editor.saidOf("demo").filter({ hasText: /^not computable — missing: qa\b/ }).waitFor();
  });

  await step("a timeline of 10,000 events is walked to its end", async () => {
    await writeFile(`${sandbox.longTrace}.part`, longTrace());
    await rename(`${sandbox.longTrace}.part`, sandbox.longTrace);
    await editor.saidOf("orphan-long").filter({ hasText: /^1 dispatch\b/ }).waitFor();
    await editor.rowOf("orphan-long").click();
    await editor.activeTab.filter({ hasText: "orphan-long" }).waitFor();
    await editor.verdict.filter({ hasText: "not graded" }).waitFor();
    await editor.run("Drive Trace: Open Timeline");
    await bar(editor, /^long/).first().focus();
    for (const key of ["+", "+", "+", "+", "+", "ArrowDown", "End", "Enter"]) {
      await editor.press(key); // rounds are shown once there is room for them
    }
    await editor.cursor.filter({ hasText: "Ln 10000," }).waitFor();
    await editor.screenshot("long-timeline");
    await editor.run("View: Close Editor");
  });

  await playColumns(editor);

  await step("all of it is readable in a light theme", async () => {
    await sandbox.changeSettings({ "workbench.colorTheme": "Default Light Modern" });
    await editor.workbench("vs").waitFor();
    await editor.selectTab("trace.jsonl");
    await editor.verdict.filter({ hasText: "missing: qa" }).waitFor();
    await editor.screenshot("light-runs");
    await editor.closeSideBar();
    await editor.run("Drive Trace: Open Report");
    await editor.preview.locator(".headline").waitFor();
    await editor.screenshot("light-report");
    await editor.run("Drive Trace: Open Timeline");
    await bar(editor, /^implement-parser/).waitFor();
    await editor.screenshot("light-timeline");
  });
}

/** How far down in what is in view something stands. */
function topOf(part: Locator): Promise<number> {
  return part.evaluate((element) => element.getBoundingClientRect().top);
}
