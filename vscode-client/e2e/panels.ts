import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";

import type { Locator } from "playwright-core";

import type { Editor } from "./editor";
import type { Sandbox } from "./sandbox";
import { step } from "./steps";
import { until } from "./until";

/** A bar or mark of the timeline, by what a screen reader calls it. */
export function bar(editor: Editor, name: RegExp): Locator {
  return editor.preview.locator(".timeline a").filter({ hasText: name, visible: true });
}

/** What a person meets who works with the timeline by keys and mouse; the demo's timeline has the focus. */
export async function playTimeline(editor: Editor): Promise<void> {
  await step("a dispatch that has just begun has a bar that can be seen", async () => {
    const box = await bar(editor, /^<b>follow-up<\/b>/).boundingBox();
    assert.ok(box !== null && box.width >= 3, JSON.stringify(box));
  });

  await step("what is no dispatch is walked by keys, too", async () => {
    await bar(editor, /^project-started/).focus();
    await editor.press("ArrowRight");
    await editor.press("Enter");
    await editor.cursor.filter({ hasText: "Ln 2," }).waitFor();
  });

  await step("the wheel zooms where the pointer is, and another tab in front leaves the trace as it was", async () => {
    await bar(editor, /^round 1 /).first().hover();
    const before = await width(editor);
    await editor.wheel("Control", -300);
    await until("a wider timeline", async () => (await width(editor) > before ? true : undefined));
    await bar(editor, /^round 1 /).first().click();
    await editor.lineNumber.filter({ hasText: /^6$/ }).waitFor();
    await editor.run("Drive Trace: Open Report");
    await editor.preview.locator(".headline").waitFor();
    await editor.selectView("Timeline: demo");
    await editor.preview.locator(".timeline a.here").waitFor();
    await editor.closeTab("Report: demo");
    await editor.selectTab("trace.jsonl");
  });
}

/** How wide the timeline is drawn, in pixels. */
export function width(editor: Editor): Promise<number> {
  return editor.preview.locator(".timeline").evaluate((drawing) => drawing.getBoundingClientRect().width);
}

/** The demo's report is open, with one part of it unfolded. */
export async function playReturns(editor: Editor, sandbox: Sandbox): Promise<void> {
  const headline = editor.preview.locator(".headline.correct");
  const notice = editor.preview.locator("[role=status]");

  await step("a window that is loaded again has the report again, as it was", async () => {
    const top = await editor.preview.evaluate(() => {
      window.scrollTo({ top: 500 });
      return window.scrollY;
    });
    await editor.reloadWindow();
    await headline.waitFor({ state: "attached" });
    assert.equal(await editor.preview.locator("details[open]").count(), 1);
    assert.equal(await editor.preview.evaluate(() => window.scrollY), top);
    await editor.preview.evaluate(() => { window.scrollTo({ top: 0 }); });
  });

  await step("a run that is gone is told of, and comes back by itself", async () => {
    const text = await readFile(sandbox.trace, "utf8");
    await writeFile(sandbox.trace, text.replaceAll('"project_run_id":"demo"', '"project_run_id":"renamed"'));
    await notice.filter({ hasText: "There is no such run any more" }).waitFor();
    await headline.waitFor({ state: "hidden" });
    await writeFile(sandbox.trace, text);
    await headline.waitFor();
    await notice.waitFor({ state: "hidden" });
  });

  await step("a server that is not there is told of, and what it said stays until it is back", async () => {
    await sandbox.changeSettings({ "driveTrace.server.command": "/nowhere/drive-trace" });
    await notice.filter({ hasText: "server is not running" }).waitFor();
    await headline.waitFor();
    await editor.screenshot("server-gone");
    await sandbox.changeSettings({});
    await notice.waitFor({ state: "hidden" });
    await editor.run("Notifications: Clear All Notifications");
  });
}

/** Nothing is open but the view Runs. */
export async function playColumns(editor: Editor): Promise<void> {
  await step("a timeline that is alone stays in view when a click opens its trace", async () => {
    await editor.run("View: Close All Editors");
    await editor.run("Focus on Runs View");
    await editor.pickFor(editor.rowOf("demo"), "Open Timeline");
    await bar(editor, /^implement-parser/).click();
    await editor.lineNumber.filter({ hasText: /^5$/ }).waitFor();
    await bar(editor, /^round 1 /).first().click();
    await editor.lineNumber.filter({ hasText: /^6$/ }).waitFor();
    assert.equal(await editor.groups.count(), 2);
    assert.equal(await editor.tab("trace.jsonl").count(), 1);
    await editor.run("Drive Trace: Open Report");
    await editor.preview.locator(".headline").waitFor();
    assert.equal(await editor.groups.count(), 2);
    await editor.closeTab("Report: demo");
    await editor.closeTab("Timeline: demo");
  });
}
