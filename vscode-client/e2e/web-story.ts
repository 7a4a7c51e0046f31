import assert from "node:assert/strict";

import type { Editor } from "./editor";
import { packageMemoryFiles } from "./memory-files";
import { isDriveTrace, processesWith } from "./processes";
import type { Sandbox } from "./sandbox";
import { exportForPerfetto, openTrace, step } from "./steps";
import { appended, longTrace, malformed, otherTrace, repaired, shortTrace } from "./trace";
import { until } from "./until";

const trace = "projects/demo/trace.jsonl";
const other = "projects/other/trace.jsonl";
/** A trace as long as the longest real one. */
const long = "wip/drive-trace/orphan-long.jsonl";

export function packageFiles(sandbox: Sandbox): Promise<string> {
  const lines = longTrace().split("\n").slice(0, 152).map((each) => `${each}\n`).join("");
  const files = { [trace]: shortTrace(), [other]: otherTrace(), [long]: lines };
  const graded = appended(33, "correctness-recorded", { mechanical: "pass", qa: "pass", intent: "pass" }).replace('"demo"', '"other"');
  return packageMemoryFiles(sandbox.workshop, files, [other, otherTrace() + graded]);
}

/** A window whose folder is on no disk: the extension runs in the browser, and so does its server. */
export async function playInBrowser(editor: Editor, sandbox: Sandbox): Promise<void> {
  const times: number[] = [];
  const open = (): Promise<number> => openTrace(editor, ["projects", "demo"]);

  await step("a squiggle, in a window that has just been opened", async () => {
    times.push(await open());
    await editor.screenshot("web-squiggle");
  });

  await step("again, in a window that is loaded later", async () => {
    await editor.run("View: Close All Editors");
    await editor.reload();
    times.push(await open());
    console.log(`      milliseconds to the squiggle: ${times.join(", then ")}`);
  });

  await step("no program of the machine is the server, and the status says how it runs", async () => {
    assert.deepEqual((await processesWith(sandbox.mark)).filter(isDriveTrace), []);
    await (await editor.languageStatus()).getByText("The server is running in WebAssembly").waitFor();
    await editor.screenshot("web-status");
  });

  await step("hover, lens and outline say what they say anywhere", async () => {
    await editor.hoverOver(malformed);
    await editor.hover.filter({ hasText: "unknown-value" }).filter({ hasText: repaired }).first().waitFor();
    await editor.screenshot("web-hover");
    await editor.leaveHover();
    await editor.lenses.filter({ hasText: "not computable: not graded" }).first().waitFor();
    await editor.run("Explorer: Focus on Outline View");
    await editor.outline.filter({ hasText: "tokens-recorded" }).first().waitFor();
  });

  await step("the view Runs shows traces that nobody has opened, and follows them", async () => {
    await editor.run("Focus on Runs View");
    await editor.saidOf("demo").filter({ hasText: "1 rejected" }).waitFor();
    await editor.saidOf("other").filter({ hasText: /^not computable\b/ }).waitFor();
    await editor.run("Trial: Let Another Write");
    await editor.saidOf("other").filter({ hasText: /^CORRECT\b/ }).waitFor();
    await editor.screenshot("web-runs");
    await editor.rowOf("other").dblclick();
    await editor.lenses.filter({ hasText: /^CORRECT\b/ }).first().waitFor();
    await editor.run("Drive Trace: Open Report");
    await editor.tab("Report: other").waitFor();
    await editor.preview.locator(".headline.correct").waitFor();
    await editor.screenshot("web-other");
    await editor.run("View: Close All Editors");
    await editor.run("View: Show Explorer");
    await open();
    await editor.closeSideBar();
  });

  await step("the report and the events stand beside the trace", async () => {
    await editor.lenses.filter({ hasText: "report" }).first().click();
    await editor.preview.locator(".headline.not-computable").waitFor();
    await editor.screenshot("web-report");
    await editor.closeOthers();
    await editor.lenses.filter({ hasText: "events" }).first().click();
    await editor.preview.locator(".rows .row").filter({ hasText: "tokens-recorded" }).waitFor();
    await editor.screenshot("web-events");
    await editor.run("View: Close All Editors");
  });

  await step("a grade is put in by the editor, and saved with the file", async () => {
    await editor.run("View: Show Explorer");
    await open();
    await editor.runAsking("Drive Trace: Record Verdict…", "How did it come out?");
    await editor.grade({ mechanical: "pass", qa: "pass", intent: "pass" });
    await editor.lenses.filter({ hasText: /^CORRECT\b/ }).first().waitFor();
    await editor.told("which is not saved yet");
    await editor.save();
    await editor.screenshot("web-recorded");
  });

  await step("timeline, text and the page of all runs open, and the run is exported", async () => {
    await editor.run("Drive Trace: Open Timeline");
    await editor.preview.getByRole("heading", { name: "Timeline" }).waitFor();
    await editor.closeTab("Timeline: demo");
    await editor.run("Drive Trace: Open Report as Text");
    await editor.tab("demo.md").waitFor();
    await editor.closeTab("demo.md");
    await editor.run("Drive Trace: Open All Runs");
    await editor.preview.getByRole("heading", { name: "Share of CORRECT over time" }).waitFor();
    await editor.closeTab("All Runs");
    await editor.selectTab("trace.jsonl");
    await exportForPerfetto(editor);
    await editor.openFile(["projects", "demo"], "trace.perfetto.json");
    await editor.lines.filter({ hasText: '{"traceEvents"' }).first().waitFor();
    await editor.screenshot("web-exported");
    await editor.closeTab("trace.perfetto.json");
    await editor.selectTab("trace.jsonl");
  });

  await step("a suggestion writes the next event", async () => {
    await editor.press("Control+End");
    await editor.type("{");
    await editor.suggestions.filter({ hasText: "slice-started" }).first().waitFor();
    await editor.screenshot("web-completion");
    await editor.press("Escape");
    await editor.revert();
  });

  await step("commands that start programs say what is missing", async () => {
    for (const command of ["Run the Gates…", "Judge This Run…"]) {
      await editor.run("Notifications: Clear All Notifications");
      await editor.run(`Drive Trace: ${command}`);
      await editor.told("Gates and judges are programs");
    }
    await editor.screenshot("web-gate");
  });

  await step("a key has its finding in a trace of 152 lines", async () => {
    await editor.run("Notifications: Clear All Notifications");
    await editor.run("View: Show Explorer");
    await editor.openFile(["wip"], "orphan-long.jsonl");
    await editor.lenses.first().waitFor();
    await editor.press("Control+Home");
    const took: number[] = [];
    for (let times = 0; times < 10; times += 1) {
      took.push(Math.round(await editor.timeOf("x", ".monaco-editor .squiggly-error")));
      await editor.press("Backspace");
      await until("no squiggle", async () => (await editor.errorSquiggles()).length === 0);
    }
    console.log(`      milliseconds to the squiggle: ${took.sort((one, another) => one - another).join(" ")}`);
  });
}
