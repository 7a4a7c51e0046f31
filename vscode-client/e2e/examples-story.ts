import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import * as path from "node:path";

import { launchBrowser } from "./browser";
import { Editor } from "./editor";
import { Background } from "./processes";
import { client } from "./set-up";
import { until } from "./until";

/** Starts what `make vscode` starts, opens the address that it prints, and ends it as Ctrl+C does. */
export async function playExamples(chromium: string, screenshots: string): Promise<void> {
  const program = path.join(client, "out", "vscode.mjs");
  const vscode = new Background(process.execPath, ["--enable-source-maps", program], process.env);
  const browser = await launchBrowser(chromium, { PATH: process.env.PATH ?? "" });
  try {
    const address = await until("an address", () => {
      assert.ok(!vscode.ended, vscode.output());
      return /http:\/\/\S+/.exec(vscode.output())?.[0];
    });
    const editor = await Editor.open(browser, address, screenshots);
    await editor.activeTab.filter({ hasText: "README.md" }).waitFor();
    await editor.openFile(["projects", "typical-mistakes"], "trace.jsonl");
    await until("a squiggle", async () => (await editor.errorSquiggles()).length > 0);
    await editor.screenshot("examples");
    await editor.press("Control+B");
    await editor.runAsking("Welcome: Open Walkthrough...", "Select a walkthrough");
    await editor.choices.filter({ hasText: "Get started with Drive Trace" }).first().click();
    await editor.walkthrough.filter({ hasText: "Read a run" }).waitFor();
    await until("its picture", () => editor.walkthrough.locator("img").evaluateAll(
      (images) => images.some((image) => (image as HTMLImageElement).naturalWidth > 0),
    ));
    await editor.screenshot("walkthrough");
    await editor.walkthrough.getByText("Open a Good Run").click();
    await editor.activeTab.filter({ hasText: "checkout-retry.jsonl" }).waitFor();
    await editor.verdict.filter({ hasText: /^\W*CORRECT$/ }).waitFor();
    await editor.screenshot("example");
    await editor.runAsking("Drive Trace: Open Example Trace", "Which example?");
    await editor.choices.filter({ hasText: "orphan-fix-flaky-login" }).first().click();
    await editor.verdict.filter({ hasText: "missing: intent" }).waitFor();
    await editor.selectView("Walkthrough");
    await editor.walkthrough.locator(".codicon-getting-started-step-checked.complete").first().waitFor();
    await editor.screenshot("walkthrough-step-done");
    vscode.interrupt();
    await until("it to end", () => vscode.ended);
    const workspace = new URL(address).searchParams.get("folder") ?? "";
    assert.match(workspace, /workspace$/);
    assert.ok(!existsSync(workspace), "the copy is removed");
  } finally {
    await browser.close();
    await vscode.stop(30_000);
  }
}
