import assert from "node:assert/strict";
import { appendFile, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import * as path from "node:path";

import type { Editor } from "./editor";
import { agentsEvents, playAgent } from "./live-agent";
import { run } from "./processes";
import type { Sandbox } from "./sandbox";
import { step } from "./steps";
import { appended, malformed, repaired, shortTrace } from "./trace";
import { until } from "./until";

/** What is done one after another to a trace that others append to, in the words of `Saves`. */
const stories = {
  "an undo takes out what a save has put in": ["type", "append", "save", "undo", "save"],
  "an undo takes out what was read after a save": ["type", "save", "append", "undo", "save"],
  "an undo and a redo after a save": ["type", "append", "save", "undo", "redo", "save"],
  "check --fix, and what was appended after it": ["type", "fix", "append", "saveOver", "undo", "save"],
  "a file that was closed with its changes": ["type", "append", "close", "open", "undo", "save", "append", "undo", "save"],
  "appended twice, with an undo between": ["type", "append", "save", "undo", "append", "save", "undo", "save"],
  "Revert File, and an undo of it": ["type", "append", "revert", "append", "undo", "undo", "save"],
  "events that are removed by hand": ["append", "remove", "drop", "save", "append", "remove", "keep", "save", "undo", "save"],
  "saving by itself while an agent appends": ["saveByItself", "undo", "save"],
  "an undo past git checkout": ["append", "commit", "type", "save", "append", "checkout", "append", "undo", "undo", "undo", "save"],
  "a window that is loaded again with its changes": ["type", "append", "reload", "append", "saveOver", "undo", "save"],
} satisfies Record<string, readonly (keyof Saves)[]>;

/** Its last event has a comma too many, which `check --fix` removes. */
const trace = shortTrace().replace(malformed, repaired) + event(0).replace("}", ",}");

/** So that all lines are in view. */
const settings = { "[drive-trace]": { "editor.wordWrap": "off" } };

export async function prepareSaves(sandbox: Sandbox): Promise<void> {
  for (const [number] of Object.keys(stories).entries()) {
    await mkdir(path.dirname(traceOf(sandbox, number)), { recursive: true });
    await writeFile(traceOf(sandbox, number), trace);
  }
  await git(sandbox, "init");
  await sandbox.changeSettings(settings);
}

/** What a person does to a trace while others write to it, and no event of these leaves the disk. */
export async function playSaves(editor: Editor, sandbox: Sandbox): Promise<void> {
  const all: Saves[] = [];
  for (const [number, [name, acts]] of Object.entries(stories).entries()) {
    const saves = new Saves(editor, sandbox, traceOf(sandbox, number));
    all.push(saves);
    await step(name, async () => {
      await saves.open();
      for (const [count, act] of acts.entries()) {
        await saves[act]().catch((cause: unknown) => {
          throw new Error(`its act ${count + 1}, ${act}`, { cause });
        });
      }
      const others = editor.toast.filter({ hasNotText: "Drive Trace has appended them again" });
      assert.equal(await others.count(), 0, "number of notifications");
      await editor.run("View: Revert and Close Editor");
      await editor.run("Notifications: Clear All Notifications");
    });
  }
  const sum = (counts: number[]): number => counts.reduce((one, other) => one + other, 0);
  const [asked, count] = [sum(all.map((each) => each.asked)), sum(all.map((each) => each.saved))];
  assert.ok(asked < count, `VS Code asked at ${asked} of ${count} saves`);
  await step("at the end each event of others is on the disk once", async () => {
    for (const saves of all) {
      await saves.expectAll();
    }
  });
}

/** A trace in the editor, and what others do to its file. */
class Saves {
  /** The ids of the events that have to be on the disk, which nobody has typed here. */
  private kept: string[] = ids(trace);
  private count = 0;
  /** The last event that was typed. */
  private typed = "";
  saved = 0;
  /** So many of the saves took longer than VS Code waits. */
  asked = 0;

  constructor(private readonly editor: Editor, private readonly sandbox: Sandbox, private readonly file: string) {}

  async open(): Promise<void> {
    await this.editor.quickOpen(path.relative(path.dirname(path.dirname(this.file)), this.file));
    await this.editor.lenses.first().waitFor();
  }

  /** An event of one's own. */
  async type(): Promise<void> {
    await this.editor.press("Control+End");
    this.typed = event(this.count += 1);
    await this.changes(() => this.editor.insert(this.typed));
    await this.editor.dirtyTab.waitFor();
  }

  /** The editor reads that, unless it has changes to save. */
  async append(): Promise<void> {
    const events = Array.from({ length: 4 }, () => event(this.count += 1)).join("");
    await appendFile(this.file, events);
    this.kept.push(...ids(events));
    await this.isRead();
  }

  /** In one command, the mistake of the trace is mended, and the file replaced. */
  async fix(): Promise<void> {
    await run("drive-trace", ["check", "--fix", this.file], { env: this.sandbox.environment });
  }

  async commit(): Promise<void> {
    await git(this.sandbox, "add", this.file);
    await git(this.sandbox, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-m", "a");
  }

  /** What others have appended since the commit goes; it was not a save that took it. */
  async checkout(): Promise<void> {
    await git(this.sandbox, "checkout", "--", this.file);
    this.kept = ids(await this.disk());
    await this.isRead();
  }

  async save(): Promise<void> {
    const before = await this.modified();
    await this.editor.press("Control+S");
    await this.isSaved(before);
  }

  /** The editor says that the file is newer, and the person overwrites it. */
  async saveOver(): Promise<void> {
    const before = await this.modified();
    await this.editor.press("Control+S");
    await this.editor.newer.waitFor();
    await this.editor.screenshot("saves-newer");
    await this.editor.overwriteIfAsked();
    await this.isSaved(before);
  }

  async undo(): Promise<void> {
    await this.changes(() => this.editor.press("Control+Z"));
  }

  async redo(): Promise<void> {
    await this.changes(() => this.editor.press("Control+Shift+Z"));
  }

  async revert(): Promise<void> {
    await this.changes(() => this.editor.run("File: Revert File"));
  }

  /** With changes, which the person has it save. */
  async close(): Promise<void> {
    const before = await this.modified();
    await this.editor.run("View: Close Editor");
    await this.editor.dialog.waitFor();
    await this.editor.screenshot("saves-close");
    await this.editor.answer("Save");
    await this.editor.tabs.first().waitFor({ state: "detached" });
    await until("the file to be written", async () => (await this.modified()) > before);
    await this.expectAll();
  }

  async reload(): Promise<void> {
    await until("a backup", () => this.isBackedUp());
    await this.editor.reloadWindow();
    await this.editor.dirtyTab.waitFor();
    await this.editor.lenses.first().waitFor();
  }

  /** The last two events, for which the person is asked once. */
  async remove(): Promise<void> {
    await this.editor.press("Control+End");
    await this.editor.press("ArrowUp");
    await this.changes(() => this.editor.press("Control+Shift+K"));
    await this.editor.press("ArrowUp");
    await this.changes(() => this.editor.press("Control+Shift+K"));
    await this.editor.toast.filter({ hasText: "You have removed 2 recorded events" }).waitFor();
    assert.equal(await this.editor.toast.count(), 1, "number of questions");
    await this.editor.screenshot("saves-removed");
  }

  async keep(): Promise<void> {
    await this.editor.answerToast("Keep Them");
  }

  async drop(): Promise<void> {
    await this.editor.answerToast("Remove Them");
    this.kept.splice(-2);
  }

  /** The editor saves what is typed, while an agent appends with the command line. */
  async saveByItself(): Promise<void> {
    await this.sandbox.changeSettings({ ...settings, "files.autoSave": "afterDelay", "files.autoSaveDelay": 100 });
    const agent = playAgent(this.sandbox, this.file).then(() => "ended");
    do {
      this.typed = event(this.count += 1);
      await this.editor.press("Control+End");
      await this.editor.insert(this.typed);
      await until("what was typed on the disk", async () => {
        await this.overwrite();
        return (await this.disk()).includes(this.typed);
      });
    } while (await Promise.race([agent, Promise.resolve("goes on")]) === "goes on");
    await this.sandbox.changeSettings(settings);
    const appended = async (): Promise<string[]> =>
      (await this.disk()).split("\n").filter((line) => line.includes('"go on"'));
    // What comes in the moment in which a person overwrites a file, nobody knows.
    await until("each event of the agent", async () => (await appended()).length === agentsEvents || this.asked > 0);
    this.kept.push(...(await appended()).flatMap(ids));
  }

  /** All that has to be on the disk is there once, and nothing else is twice. */
  async expectAll(): Promise<void> {
    const missing = async (): Promise<string[]> => {
      const there = ids(await this.disk());
      return [...this.kept.filter((id) => !there.includes(id)), ...there.filter((id, at) => there.indexOf(id) !== at)];
    };
    await until("every event once", async () => (await missing()).length === 0, 10_000).catch(() => undefined);
    assert.deepEqual(await missing(), [], "events that are missing, or there twice");
  }

  private async isSaved(before: bigint): Promise<void> {
    await until("the file to be written", async () =>
      (await this.overwrite())
      || ((await this.modified()) > before && (await this.editor.cleanTab.count()) > 0));
    this.saved += 1;
    await this.expectAll();
    await this.isRead();
  }

  private async overwrite(): Promise<boolean> {
    const asked = await this.editor.overwriteIfAsked();
    this.asked += Number(asked);
    return asked;
  }

  private async isRead(): Promise<void> {
    if (await this.editor.dirtyTab.count() === 0) {
      const last = ids(await this.disk()).at(-1) ?? "";
      await this.editor.lines.filter({ hasText: last }).waitFor();
    }
  }

  /** Something else is shown than before. */
  private async changes(act: () => Promise<void>): Promise<void> {
    const shown = (): Promise<string> => this.editor.lines.allInnerTexts().then((lines) => lines.join("\n"));
    const before = await shown();
    await act();
    await until("another text", async () => (await shown()) !== before);
  }

  /** VS Code has kept what is not saved. */
  private async isBackedUp(): Promise<boolean> {
    const backups = path.join(this.sandbox.userData, "User", "Backups");
    const files = await readdir(backups, { recursive: true }).catch(() => []);
    const texts = await Promise.all(files.map((file) => readFile(path.join(backups, file), "utf8").catch(() => "")));
    return texts.some((text) => text.endsWith(this.typed));
  }

  private disk(): Promise<string> { return readFile(this.file, "utf8"); }

  private async modified(): Promise<bigint> { return (await stat(this.file, { bigint: true })).mtimeNs; }
}

function traceOf(sandbox: Sandbox, number: number): string {
  return path.join(sandbox.workspace, "saves", `story-${number}`, "trace.jsonl");
}

function event(number: number): string {
  return appended(100 + number, "health-check-fired", {
    cadence: "per-slice-merge", drift_signal_count: 0, max_drift_severity: "none", recommended_next: `${number}`,
  });
}

function git(sandbox: Sandbox, ...args: string[]): Promise<string> {
  return run("git", args, { cwd: sandbox.workspace, env: sandbox.environment });
}

function ids(text: string): string[] {
  return [...text.matchAll(/"event_id":"([^"]+)"/g)].map(([, id]) => id ?? "");
}
