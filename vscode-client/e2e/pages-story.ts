import assert from "node:assert/strict";
import { appendFile, readFile } from "node:fs/promises";
import * as path from "node:path";

import type { Editor } from "./editor";
import { bar } from "./panels";
import type { Sandbox } from "./sandbox";
import { exportForPerfetto, step } from "./steps";
import { appended } from "./trace";
import { until } from "./until";

/** What a person sees who looks at all runs, and takes one of them elsewhere. */
export async function playPages(editor: Editor, sandbox: Sandbox): Promise<void> {
  await step("all runs are a page in a tab, and a click opens the report of one", async () => {
    await editor.openFile(["projects", "demo"], "trace.jsonl");
    await editor.closeSideBar();
    await editor.verdict.filter({ hasText: "CORRECT" }).waitFor();
    await editor.run("Drive Trace: Open All Runs");
    await editor.preview.getByRole("heading", { name: "Share of CORRECT over time" }).waitFor();
    await editor.preview.getByText("1 CORRECT · 1 not computable").waitFor();
    const heights = await editor.preview.locator("td .chip").evaluateAll((chips) => chips.map((chip) => (chip as HTMLElement).offsetHeight));
    assert.ok(heights.length > 0 && heights.every((height) => height < 30), `verdicts stand on one line, in a pane: ${heights.join(", ")}`);
    await editor.screenshot("all-runs");
    assert.deepEqual(await editor.violations(editor.preview), []);
    await editor.preview.locator("tbody a").filter({ hasText: /^demo$/ }).first().click();
    await editor.tab("Report: demo").waitFor();
    await editor.closeTab("Report: demo");
  });

  await step("a page of all runs follows what others append", async () => {
    await appendFile(sandbox.otherTrace, appended(90, "correctness-recorded", { mechanical: "pass", qa: "fail", intent: "pass" }).replaceAll('"demo"', '"other"'));
    await editor.preview.getByText("1 CORRECT · 1 INCORRECT").waitFor();
    await editor.closeTab("All Runs");
  });

  await step("each dispatch has a lane with its name, and the axis that somebody chose stays", async () => {
    await editor.run("Drive Trace: Open Timeline");
    await editor.preview.locator(".names").getByText("implement-parser").waitFor();
    const chart = editor.preview.locator(".chart");
    const clock = editor.preview.getByRole("button", { name: "Unfold idle time" });
    const started = { dispatch_id: "5d2e3c52-9b0e-4c35-9a3a-1f2d3c4b5a69", dispatch_name: "days later", subagent_type: "fixer", model: null, parent_dispatch_id: null };
    await appendFile(sandbox.trace, appended(3000, "dispatch-start", started));
    await clock.click();
    await until("the clock's axis", async () => (await chart.getAttribute("data-axis")) === "clock");
    const place = (): Promise<string | null> => bar(editor, /^implement-parser/).locator("svg").getAttribute("width");
    const before = Number.parseFloat((await place()) ?? "");
    await appendFile(sandbox.trace, appended(6000, "dispatch-start", { ...started, dispatch_id: "6d2e3c52-9b0e-4c35-9a3a-1f2d3c4b5a69", dispatch_name: "much later" }));
    await editor.preview.locator(".names").getByText("much later").waitFor();
    assert.equal(await chart.getAttribute("data-axis"), "clock");
    assert.equal(await clock.getAttribute("aria-pressed"), "true");
    assert.ok(Number.parseFloat((await place()) ?? "") < before, "the clock's axis is longer now");
    await editor.screenshot("lanes");
    assert.deepEqual(await editor.violations(editor.preview), []);
    await editor.closeTab("Timeline: demo");
  });

  await step("a report is text that can be read and copied, and is no file", async () => {
    await editor.run("Drive Trace: Open Report as Text");
    await editor.tab("demo.md").waitFor();
    await editor.lines.filter({ hasText: "# CORRECT, but stale" }).first().waitFor();
    await editor.screenshot("report-as-text");
    await editor.type("x");
    await editor.lines.filter({ hasText: "x# CORRECT" }).waitFor({ state: "detached" });
    await editor.closeTab("demo.md");
  });

  await step("a run is exported for the viewers of other tools", async () => {
    const file = path.join(sandbox.workspace, "run.json");
    await exportForPerfetto(editor, file);
    assert.match(await readFile(file, "utf8"), /"traceEvents"/);
    await editor.run("Notifications: Clear All Notifications");
  });

  await step("where no judge is set, a model of the editor can be one, if it has some", async () => {
    await editor.run("Drive Trace: Judge This Run…");
    await editor.told("no judge is set");
    await editor.answerToast("Use a Model of the Editor…");
    await editor.told("the editor offers no language model");
    await editor.run("Notifications: Clear All Notifications");
  });

  await step("both pages are readable when narrow, wide, light and in high contrast", async () => {
    for (const [look, theme, width] of [["vs", "Default Light Modern", 1600], ["vs", "Default Light Modern", 760], ["hc-black", "Default High Contrast", 1600]] as const) {
      await sandbox.changeSettings({ "workbench.colorTheme": theme });
      await editor.workbench(look).waitFor();
      await editor.resize(width);
      for (const [command, ready, tab] of [["Open All Runs", "#runs", "All Runs"], ["Open Timeline", ".names", "Timeline: demo"]] as const) {
        await editor.selectTab("trace.jsonl");
        await editor.run(`Drive Trace: ${command}`);
        await editor.preview.locator(ready).waitFor();
        await editor.screenshot(`${tab.replace(/\W+/g, "-").toLowerCase()}-${look}-${width}`);
        await editor.closeTab(tab);
      }
    }
  });
}
