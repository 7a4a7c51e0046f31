import assert from "node:assert/strict";
import { appendFile, copyFile, mkdir, readdir, readFile } from "node:fs/promises";
import * as path from "node:path";

import type { Locator } from "playwright-core";

import type { Editor } from "./editor";
import type { Sandbox } from "./sandbox";
import { step } from "./steps";
import { appended } from "./trace";
import { until } from "./until";

const corpus = process.env.DRIVE_TRACE_CORPUS;

/** The traces that are read: also the longest real one, where there are some. */
export async function prepareEvents(sandbox: Sandbox): Promise<void> {
  await sandbox.addProject();
  if (corpus !== undefined) {
    const files = (await readdir(corpus)).filter((name) => name.endsWith(".jsonl"));
    const texts = await Promise.all(files.map(async (name) => [name, await readFile(path.join(corpus, name), "utf8")] as const));
    const [name] = texts.sort(([, one], [, other]) => other.split("\n").length - one.split("\n").length)[0] ?? [];
    const folder = path.dirname(sandbox.realTrace);
    await mkdir(folder, { recursive: true });
    await copyFile(path.join(corpus, name ?? ""), sandbox.realTrace);
  }
}

/** What a person meets who reads a run in the list of its events. */
export async function playEvents(editor: Editor, sandbox: Sandbox): Promise<void> {
  const list = editor.preview.locator(".list");
  const rows = editor.preview.locator(".rows .row");
  const count = editor.preview.locator(".count");
  const details = editor.preview.locator(".details");
  const chosen = editor.preview.locator(".rows [aria-selected=true]");

  await step("the text stays the default, and a key shows the events in its place", async () => {
    await editor.openFile(["projects", "demo"], "trace.jsonl");
    await editor.closeSideBar();
    await editor.lenses.filter({ hasText: "events" }).first().waitFor();
    await editor.press("Control+K");
    await editor.press("l");
    await count.filter({ hasText: "13 / 13" }).waitFor();
    await rows.filter({ hasText: "round-end" }).filter({ hasText: "19m 00s" }).waitFor();
    assert.equal(await readFile(sandbox.trace, "utf8").then((text) => text.split("\n").length), 14);
    await editor.screenshot("events");
  });

  await step("keys walk the events and show what each says, and follow what is appended", async () => {
    await list.focus();
    await editor.press("End");
    await chosen.filter({ hasText: "correctness-recorded" }).waitFor();
    await details.filter({ hasText: "mechanical" }).waitFor();
    await appendFile(sandbox.trace, appended(33, "health-check-fired", {
      cadence: "per-slice-merge", drift_signal_count: 0, max_drift_severity: "none", recommended_next: "<b>go on</b>",
    }));
    await rows.filter({ hasText: "<b>go on</b>" }).waitFor();
    await count.filter({ hasText: "14 / 14" }).waitFor();
  });

  await step("the events are filtered and grouped, and groups fold", async () => {
    await editor.preview.getByLabel("with problems").check();
    await until("fewer rows", async () => !(await count.innerText()).startsWith("14"));
    await editor.preview.getByLabel("with problems").uncheck();
    await editor.preview.getByLabel("by slice and dispatch").check();
    const heading = rows.filter({ hasText: "implement-parser (" });
    await heading.click();
    await until("a folded group", async () => (await heading.getAttribute("aria-expanded")) === "false");
    assert.equal(await rows.filter({ hasText: "round-end" }).count(), 0);
    await heading.click();
    await editor.preview.getByLabel("by slice and dispatch").uncheck();
  });

  await step("axe-core finds nothing against it", async () => {
    assert.deepEqual(await editor.violations(), []);
  });

  await step("Enter goes to the line, and the cursor of the text is the one of the list", async () => {
    await rows.filter({ hasText: "slice-started" }).click();
    await chosen.filter({ hasText: "slice-started" }).waitFor();
    await list.focus();
    await editor.press("Enter");
    await editor.cursor.filter({ hasText: "Ln 4," }).waitFor();
    await editor.press("Control+Home");
    await chosen.filter({ hasText: "project-started" }).waitFor();
    await editor.screenshot("events-beside");
    await editor.run("View: Close All Editors");
  });

  if (corpus !== undefined) {
    await playRealTrace(editor, { rows, count, details, list });
  }
}

interface Parts {
  readonly rows: Locator;
  readonly count: Locator;
  readonly list: Locator;
}

async function playRealTrace(editor: Editor, { rows, count, details, list }: Parts & { readonly details: Locator }): Promise<void> {
  await step("in a real trace: the rejected lines, the longest dispatch and the reason of a halt, in under ten actions each", async () => {
    await editor.quickOpen("real/trace.jsonl");
    await editor.press("Control+K");
    await editor.press("l");
    await until("all rows", async () => !(await count.innerText()).endsWith("…") && (await rows.count()) > 0);
    const outcome = editor.preview.getByLabel("Outcome", { exact: true });
    const outcomes = await outcome.locator("option").allInnerTexts();
    if (outcomes.includes("rejected")) {
      await outcome.selectOption("rejected");
      await rows.first().click();
      await details.locator(".finding.error").first().waitFor();
      await editor.screenshot("events-rejected");
      await outcome.selectOption("");
    }
    await editor.preview.getByLabel("Event", { exact: true }).selectOption("dispatch-end");
    const order = editor.preview.getByLabel("Order", { exact: true });
    await order.selectOption("longest");
    await rows.first().filter({ hasText: "dispatch-end" }).click();
    await details.filter({ hasText: "wall_clock_ms" }).waitFor();
    await order.selectOption("");
    await editor.preview.getByLabel("Event", { exact: true }).selectOption("");
    const halt = ["escalating-to-user", "stop-condition", "aborted", "failed"].find((each) => outcomes.includes(each));
    if (halt !== undefined) {
      await outcome.selectOption(halt);
      await rows.first().click();
      await details.filter({ hasText: halt }).waitFor();
      await outcome.selectOption("");
    }
    await list.focus();
    await editor.run("View: Close All Editors");
  });
}
