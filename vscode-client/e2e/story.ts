import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import * as path from "node:path";

import type { Box, Editor } from "./editor";
import { quoted, type Sandbox } from "./sandbox";
import { runningServer, step } from "./steps";
import { malformed, repaired } from "./trace";
import { until } from "./until";

const token = `"${malformed}"`;

/** What a person sees who reviews a run, mends a mistake in it, and asks for its report. */
export async function playStory(editor: Editor, sandbox: Sandbox): Promise<void> {
  const text = await readFile(sandbox.trace, "utf8");
  const at = place(text, token);

  await step("the file is in the language Drive Trace", async () => {
    await editor.openFile(["projects"], "trace.jsonl");
    await editor.closeSideBar();
    await until("the language mode", async () => (await editor.languageMode()) === "Drive Trace");
  });

  await step(`the only error squiggle is under ${token}`, async () => {
    await until("a squiggle", async () => (await editor.errorSquiggles()).length > 0);
    await editor.lenses.filter({ hasText: "not computable: not graded" }).first().waitFor(); // it moves the rows
    const word = await editor.placeOf(token);
    const squiggles = await editor.errorSquiggles();
    assert.equal(squiggles.length, 1, "number of error squiggles");
    assertUnder(squiggles[0], word);
    await editor.screenshot("squiggle");
  });

  await step("the Problems panel names the rule, the line and the column", async () => {
    await editor.press("Control+Shift+M");
    const problem = editor.problems.filter({ hasText: `[Ln ${at.line}, Col ${at.column}]` });
    await problem.waitFor();
    assert.match(await problem.innerText(), /unknown-value/);
    await editor.screenshot("problems");
  });

  await step("a finding links to the page of its rule, which a setting moves at once", async () => {
    await editor.problems.locator('a[href$="/unknown-value.md"]').waitFor();
    await sandbox.changeSettings({ "driveTrace.ruleUrl": "https://rules.example/{code}" });
    await editor.problems.locator('a[href="https://rules.example/unknown-value"]').waitFor();
    await sandbox.changeSettings({});
    await editor.press("Control+Shift+M");
    await editor.problems.first().waitFor({ state: "hidden" });
  });

  await step("the lens says why there is no verdict, and which line was rejected", async () => {
    const lens = editor.lenses.filter({ hasText: "not computable: not graded" }).first();
    await lens.waitFor();
    assert.match(await lens.innerText(), new RegExp(`rejected.*line ${at.line}\\b`));
  });

  await step("the hover shows the scorecard, verdict first", async () => {
    await editor.hoverOver("correctness-recorded");
    const card = editor.hover.filter({ hasText: "not computable" }).first();
    await card.waitFor();
    await editor.screenshot("hover");
    const words = (await card.innerText()).trim();
    assert.match(words, /^\W*not computable/i, "first words of the hover");
    for (const component of ["mechanical", "qa", "intent"]) {
      assert.ok(words.includes(component), `the card names ${component}`);
    }
    await editor.leaveHover();
  });

  await step("the hover over the mistake says what to write, and shows the card too", async () => {
    await editor.hoverOver(malformed);
    const hover = editor.hover.filter({ hasText: "unknown-value" }).first();
    await hover.filter({ hasText: "not computable" }).waitFor();
    assert.match(await hover.innerText(), new RegExp(`found ${token}.*${repaired}`));
    await editor.screenshot("mistake");
    await editor.leaveHover();
  });

  await step("a click on a lens opens the live report beside the file, or the timeline", async () => {
    await editor.lenses.filter({ hasText: "not computable" }).first().click();
    await editor.tab("Report: demo").waitFor();
    await editor.preview.locator(".headline.not-computable").waitFor();
    await editor.screenshot("lens-report");
    await editor.lenses.filter({ hasText: "timeline" }).first().click();
    await editor.tab("Timeline: demo").waitFor();
    await editor.selectTab("trace.jsonl");
    await editor.closeOthers();
  });

  await step("the lens turns CORRECT as the mistake is typed away, unsaved", async () => {
    await editor.typeOver(token, repaired);
    await editor.lenses.filter({ hasText: /^CORRECT · / }).first().waitFor();
    await until("no squiggle", async () => (await editor.errorSquiggles()).length === 0);
    assert.match((await editor.activeTab.getAttribute("class")) ?? "", /\bdirty\b/);
    assert.equal(await readFile(sandbox.trace, "utf8"), text, "the file on disk");
    await editor.screenshot("correct");
  });

  await step("a rule is turned off where it finds something, in the project's configuration", async () => {
    await editor.press("Control+Z");
    await until("the squiggle again", async () => (await editor.errorSquiggles()).length === 1);
    await editor.lenses.filter({ hasText: "not computable: not graded" }).first().waitFor();
    await editor.press("ArrowLeft");
    const action = await editor.actionAtCursor("Turn unknown-value off for the project");
    await editor.screenshot("about-rule");
    while (!/\bfocused\b/.test((await action.getAttribute("class")) ?? "")) {
      await editor.press("ArrowDown");
    }
    await editor.press("Enter");
    await until("no squiggle", async () => (await editor.errorSquiggles()).length === 0);
    const configuration = path.join(sandbox.workspace, "drive-trace.toml");
    assert.equal(await readFile(configuration, "utf8"), '[rules]\nunknown-value = "off"\n');
    await editor.toast.filter({ hasText: "unknown-value is off for the project" }).waitFor();
    assert.equal(await editor.toast.count(), 1, "number of notifications");
    await editor.run("Notifications: Clear All Notifications");
    await rm(configuration);
    await until("the squiggle again", async () => (await editor.errorSquiggles()).length === 1);
  });

  await step("a quick fix mends it as well", async () => {
    await editor.actionAtCursor(`Replace with "${repaired}"`);
    await editor.screenshot("quick-fix");
    await editor.press("Enter");
    await until("no squiggle", async () => (await editor.errorSquiggles()).length === 0);
    await editor.lenses.filter({ hasText: /^CORRECT · / }).first().waitFor();
  });

  await step("a suggestion writes the next event, with what is known filled in", async () => {
    await editor.press("Control+End");
    await editor.type("{");
    const suggestion = editor.suggestions.filter({ hasText: "tokens-recorded" }).first();
    await suggestion.waitFor();
    await editor.screenshot("completion");
    await suggestion.click();
    await editor.cursor.filter({ hasText: "selected" }).waitFor();
    await editor.press("Escape");
    await editor.press("Escape");
    await editor.save();
    const lines = (await readFile(sandbox.trace, "utf8")).trimEnd().split("\n");
    assert.equal(lines.length, 14, "lines on disk");
    const { event_type, project_run_id, ts } = JSON.parse(lines.at(-1) ?? "") as Record<string, unknown>;
    assert.deepEqual({ event_type, project_run_id }, { event_type: "tokens-recorded", project_run_id: "demo" });
    assert.ok(!Number.isNaN(Date.parse(String(ts))), `a time: ${String(ts)}`);
    await writeFile(sandbox.trace, text.replace(token, `"${repaired}"`));
    await until("the file as it was", async () =>
      (await editor.lines.filter({ hasText: '"tokens-recorded"' }).count()) === 1);
    await editor.scrollToTop();
    await editor.lenses.filter({ hasText: /^CORRECT · / }).first().waitFor();
  });

  await step("a server that is not there is reported once, with a way out", async () => {
    await sandbox.changeSettings({ "driveTrace.server.command": "not-a-drive-trace" });
    const toast = editor.toast.filter({ hasText: "not-a-drive-trace" });
    await toast.waitFor();
    assert.match(await toast.innerText(), /or leave it empty for the server that comes with the extension/);
    await toast.getByText("Open Setting").waitFor();
    assert.equal(await editor.toast.count(), 1, "number of notifications");
    await until("no lens", async () => (await editor.lenses.count()) === 0);
    await editor.screenshot("missing-server");
  });

  await step("so is one that ends at once", async () => {
    await sandbox.changeSettings({ "driveTrace.server.command": ["/bin/false"] });
    await editor.toast.filter({ hasText: "/bin/false serve" }).waitFor();
  });

  await step("it starts again as soon as the setting is right", async () => {
    await sandbox.changeSettings({});
    await editor.selectTab("trace.jsonl");
    await editor.lenses.filter({ hasText: /^CORRECT · / }).first().waitFor();
    assert.equal(await editor.toast.count(), 2, "number of notifications");
  });

  await step("the command restarts the server", async () => {
    const before = await runningServer(sandbox);
    await editor.run("Drive Trace: Restart Server");
    await runningServer(sandbox, before);
    await editor.run("Drive Trace: Show Log");
    await editor.output.filter({ hasText: "drive-trace serve" }).first().waitFor();
    await editor.screenshot("server-log");
  });

  await step("a server that does not answer is told, and takes no other one with it when it ends at last", async () => {
    const told = path.join(sandbox.workspace, "end");
    const silent = `trap "" TERM; until [ -e ${quoted(told)} ]; do sleep 0.1; done`;
    await sandbox.changeSettings({ "driveTrace.server.command": ["/bin/sh", "-c", silent] });
    await editor.toast.filter({ hasText: "has not answered in 10 seconds" }).waitFor();
    await sandbox.changeSettings({});
    await editor.lenses.filter({ hasText: /^CORRECT · / }).first().waitFor();
    const server = await runningServer(sandbox);
    await writeFile(told, "");
    await editor.output.filter({ hasText: "The server has ended (0)" }).first().waitFor();
    assert.equal((await runningServer(sandbox)).pid, server.pid);
  });
}

/** Line and column of a text's first occurrence, from 1. */
function place(text: string, part: string): { line: number; column: number } {
  const before = text.slice(0, text.indexOf(part)).split("\n");
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

function assertUnder(squiggle: Box | undefined, word: Box): void {
  assert.ok(squiggle);
  const shown = JSON.stringify({ squiggle, word });
  assert.ok(Math.abs(squiggle.x - word.x) <= 1, `the squiggle starts with the token: ${shown}`);
  assert.ok(Math.abs(squiggle.width - word.width) <= 1.5, `and is as wide: ${shown}`);
  assert.ok(Math.abs(squiggle.y - word.y) <= word.height / 2, `and in its row: ${shown}`);
}
