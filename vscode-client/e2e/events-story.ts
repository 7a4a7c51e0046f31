import assert from "node:assert/strict";
import { appendFile, copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import * as path from "node:path";

import type { Locator } from "playwright-core";

import { contrast } from "./axe";
import type { Editor } from "./editor";
import type { Sandbox } from "./sandbox";
import { step } from "./steps";
import { appended } from "./trace";
import { until } from "./until";

/** Themes, and how VS Code's window tells that it has one. */
const themes = [
  ["Default Dark Modern", "vs-dark"], ["Default Light Modern", "vs"],
  ["Default High Contrast", "hc-black"], ["Default High Contrast Light", "hc-light"],
] as const;

/** A real trace with rejected lines and a halt, where there are real ones. */
const real = process.env.DRIVE_TRACE_CORPUS && path.join(process.env.DRIVE_TRACE_CORPUS, "migrate-marker-ledger.jsonl");

export async function prepareEvents(sandbox: Sandbox): Promise<void> {
  await sandbox.addProject();
  if (real !== undefined) {
    await mkdir(path.dirname(sandbox.realTrace), { recursive: true });
    await copyFile(real, sandbox.realTrace);
  }
}

/** What a person meets who reads a run in the list of its events. */
export async function playEvents(editor: Editor, sandbox: Sandbox): Promise<void> {
  const list = editor.preview.locator(".list");
  const rows = editor.preview.locator(".rows .row");
  const count = editor.preview.locator(".count");
  const details = editor.preview.locator(".details");
  const chosen = editor.preview.locator(".rows [aria-selected=true]");

  /** VS Code looks only now and then which view has the focus; a click on the tab tells it at once. */
  const focusList = async (): Promise<void> => {
    await editor.tabs.first().click();
    await list.focus();
  };

  await step("the text stays the default, and a key shows the events in its place", async () => {
    await editor.openFile(["projects", "demo"], "trace.jsonl");
    await editor.closeSideBar();
    await editor.lenses.filter({ hasText: "events" }).first().waitFor();
    await editor.press("Control+K");
    await editor.press("l");
    await count.filter({ hasText: "13 / 13" }).waitFor();
    await editor.tabs.nth(1).waitFor({ state: "detached" });
    await details.filter({ hasText: "project-started" }).waitFor();
    await editor.verdict.filter({ hasText: "CORRECT" }).waitFor();
    await rows.filter({ hasText: "round-end" }).filter({ hasText: "19m (19m)" }).waitFor();
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
    await editor.preview.getByLabel("Event", { exact: true }).selectOption("round-end");
    await details.filter({ hasText: "round-end" }).waitFor();
    await editor.preview.getByLabel("Event", { exact: true }).selectOption("");
    await editor.preview.getByLabel("by slice and dispatch").check();
    const heading = rows.filter({ hasText: "implement-parser (" });
    await heading.click();
    await until("a folded group", async () => (await heading.getAttribute("aria-expanded")) === "false");
    assert.equal(await rows.filter({ hasText: "round-end" }).count(), 0);
    await heading.click();
    await editor.preview.getByLabel("by slice and dispatch").uncheck();
  });

  await step("Enter goes to the line, and the cursor of the text is the one of the list", async () => {
    await rows.filter({ hasText: "slice-started" }).click();
    await chosen.filter({ hasText: "slice-started" }).waitFor();
    await list.focus();
    await editor.press("Enter");
    await editor.cursor.filter({ hasText: "Ln 4," }).waitFor();
    await editor.press("Control+Home");
    await chosen.filter({ hasText: "project-started" }).waitFor();
    await details.filter({ hasText: "project-started" }).waitFor();
    await focusList();
    await editor.press("ArrowDown");
    await editor.lineNumber.filter({ hasText: /^2$/ }).waitFor();
    await editor.screenshot("events-beside");
    await editor.cursor.waitFor({ state: "hidden" }); // the text's, once the list is the active editor
    await editor.closeOthers();
  });

  await step("the bar of a timeline is that of the chosen event, and a bar chooses its event", async () => {
    await rows.filter({ hasText: "dispatch-start" }).click();
    await editor.press("Control+K");
    await editor.press("t");
    const [events, timeline] = [await editor.webviewWith(".list"), await editor.webviewWith(".timeline")];
    const bar = (name: RegExp): Locator => timeline.locator(".timeline a").filter({ hasText: name });
    const here = timeline.locator(".timeline a.here");
    await here.filter({ hasText: "implement-parser" }).waitFor();
    await bar(/^project-closed/).click();
    await events.locator("[aria-selected=true]").filter({ hasText: "project-closed" }).waitFor();
    assert.equal(await editor.lines.count(), 0);
    await events.locator(".row").filter({ hasText: "round-start" }).click();
    await here.filter({ hasText: /^round 1/ }).waitFor();
    await editor.screenshot("events-timeline");
    await editor.closeTab("Timeline: demo");
  });

  await step("the same key leads back to the text, and to the line", async () => {
    await focusList();
    await editor.press("Control+K");
    await editor.press("l");
    await editor.cursor.filter({ hasText: "Ln 6," }).waitFor();
    await editor.tabs.nth(1).waitFor({ state: "detached" });
  });

  await playThemes(editor, sandbox);

  await step("on a line without a run, no command is about another trace in view", async () => {
    await writeFile(sandbox.trace, "{\n");
    await editor.quickOpen("other/trace.jsonl");
    await editor.selectTab("trace.jsonl");
    await editor.run("Drive Trace: Open Events Beside the Text");
    await count.filter({ hasText: "1 / 1" }).waitFor();
    await editor.tabs.nth(1).click();
    await editor.verdict.filter({ hasText: "not computable" }).waitFor();
    await rows.first().click();
    await editor.verdict.waitFor({ state: "hidden" });
    await editor.run("Drive Trace: Record Verdict…");
    await editor.told("there is no run here");
    await editor.run("Notifications: Clear All Notifications");
  });

  await editor.run("View: Close All Editors");
  if (real !== undefined) {
    await playRealTrace(editor, { rows, details, list });
  }
}

/** The views beside a text, in every theme: readable by axe-core's rules, and at no size wider than their room. */
async function playThemes(editor: Editor, sandbox: Sandbox): Promise<void> {
  const views = [
    ["events", "Drive Trace: Open Events Beside the Text", ".list"],
    ["report", "Drive Trace: Open Report", ".headline"],
    ["timeline", "Drive Trace: Open Timeline", ".timeline"],
  ] as const;
  for (const [name, command, part] of views) {
    await step(`axe-core finds nothing against the ${name} in any theme, and nothing is cut off`, async () => {
      await editor.selectTab("trace.jsonl");
      await editor.run(command);
      const view = await editor.webviewWith(part);
      for (const [theme, look] of themes) {
        await sandbox.changeSettings({ "workbench.colorTheme": theme });
        await editor.workbench(look).waitFor();
        assert.deepEqual(await editor.violations(view, theme === themes[0][0] ? undefined : contrast), [], theme);
        for (const width of [1280, 1920, 640]) {
          await editor.resize(width);
          await editor.screenshot(`${name}-${look}-${width}`);
          const over = await view.evaluate((body) => body.ownerDocument.documentElement.scrollWidth - body.ownerDocument.documentElement.clientWidth);
          assert.ok(over <= 0, `${name}, ${theme}, ${width}: ${over} pixels wider than its room`);
        }
        await editor.resize(1280);
      }
      await editor.selectTab("trace.jsonl");
      await editor.closeOthers();
    });
  }
  await sandbox.changeSettings({});
}

interface Parts {
  readonly rows: Locator;
  readonly list: Locator;
  readonly details: Locator;
}

/** Each thing is found in the text that is open, with every key, click and choice counted. */
async function playRealTrace(editor: Editor, { rows, list, details }: Parts): Promise<void> {
  const select = (name: string): Locator => editor.preview.getByLabel(name, { exact: true });
  const choose = (name: string, value: string) => async (): Promise<void> => { await select(name).selectOption(value); };
  const press = (...keys: string[]) => async (): Promise<void> => {
    for (const key of keys) {
      await editor.press(key);
    }
  };
  const find = async (what: string, actions: readonly (() => Promise<void>)[], seen: () => Promise<void>): Promise<void> => {
    await step(`in a real trace: ${what}, in ${actions.length} actions`, async () => {
      assert.ok(actions.length < 10);
      for (const act of actions) {
        await act();
      }
      await seen();
      await list.focus();
      await press("Escape", "Control+K", "l")();
      await editor.lines.first().waitFor();
    });
  };
  await editor.quickOpen("real/trace.jsonl");
  const open = press("Control+K", "l");

  await find("its eleven rejected lines, and why", [open, choose("Outcome", "rejected"), () => rows.first().click()], async () => {
    await editor.preview.locator(".count").filter({ hasText: "11 / 98" }).waitFor();
    await details.locator(".finding.error").first().waitFor();
    await editor.screenshot("events-rejected");
  });
  await find("its longest dispatch", [open, choose("Event", "dispatch-end"), choose("Order", "longest"), press("Home")], async () => {
    await list.locator("[aria-selected=true]").filter({ hasText: "dispatch-end" }).waitFor();
    await details.filter({ hasText: "wall_clock_ms" }).waitFor();
    await editor.screenshot("events-longest");
  });
  await find("why it halted", [open, choose("Outcome", "failed"), () => rows.first().click(), press("Escape"), press("ArrowDown")], async () => {
    await details.filter({ hasText: "falsified-assumption" }).filter({ hasText: "Spec assumed the SQLite adapter" }).waitFor();
    await editor.screenshot("events-halt");
  });
  await editor.run("View: Close All Editors");
}
