import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import * as path from "node:path";

import type { Editor } from "./editor";
import { processesWith, run } from "./processes";
import type { Sandbox } from "./sandbox";
import { exists, step } from "./steps";
import { until } from "./until";

const reply = {
  reasons: [
    "An empty line gives no entry: src/parse.ts:2 returns before it splits.",
    "../../../etc/passwd and [a link](command:workbench.action.quit) are left alone; the run was closed on line 11.",
  ],
  intent: "pass",
};

/** Gives the workspace a history, what was meant, gates and a scripted judge. */
export async function prepareGrading(sandbox: Sandbox): Promise<void> {
  const put = async (name: string, text: string, mode?: number): Promise<void> => {
    const file = path.join(sandbox.workspace, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text, { mode });
  };
  const git = (...args: string[]): Promise<string> =>
    run("git", ["-c", "user.name=e2e", "-c", "user.email=e2e@example.com", ...args], { cwd: sandbox.workspace });
  await put("cases/parse-input/case.json", "{}\n");
  await put("cases/parse-input/acceptance.md", "# Parse input\n\n- An empty line gives no entry.\n");
  await put("src/parse.ts", "export function parse(line: string): string[] {\n  return line.split(',');\n}\n");
  await git("init", "--quiet", "--initial-branch=main");
  await git("add", "src");
  await git("commit", "--quiet", "--message=Parse lines");
  await put("src/parse.ts", "export function parse(line: string): string[] {\n  return line === '' ? [] : line.split(',');\n}\n");
  await git("commit", "--quiet", "--all", "--message=Give no entry for an empty line");
  await put("judge.sh", `#!/bin/sh\ncat > ${asked(sandbox)}\ncat ${replyOf(sandbox)}\n`, 0o755);
  await writeFile(replyOf(sandbox), JSON.stringify(reply));
  await put(".vscode/settings.json", JSON.stringify({
    "driveTrace.gates.mechanical": ["echo the types fit", "test -f src/parse.ts"],
    "driveTrace.judge.model": "my-judge",
    "driveTrace.judge.modelCommand": "./judge.sh",
    "driveTrace.judge.family": "qwen",
    "driveTrace.judge.orchestratorFamily": "composer",
  }));
}

/** What a person sees who has gates and a judge grade a run. */
export async function playGrading(editor: Editor, sandbox: Sandbox): Promise<void> {
  const grades = async (): Promise<object[]> =>
    (await readFile(sandbox.trace, "utf8")).trimEnd().split("\n").map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ event_type }) => event_type === "correctness-recorded")
      .map(({ mechanical, qa, intent }) => ({ mechanical, qa, intent }));
  const askGate = async (component: string): Promise<void> => {
    await editor.runAsking("Drive Trace: Run the Gates…", "Which gate is to be run?");
    await editor.choices.filter({ hasText: component }).first().click();
  };
  /** Up to the question whether the prompt is to be sent. */
  const askJudge = async (): Promise<void> => {
    await editor.runAsking("Drive Trace: Judge This Run…", "What was meant?");
    await editor.choices.filter({ hasText: "cases/parse-input" }).filter({ hasText: "a case" }).click();
    await editor.choices.filter({ hasText: "Commits of workspace" }).click();
    await editor.input.fill("HEAD~1..HEAD");
    await editor.press("Enter");
    await editor.choices.filter({ hasText: "Do Not Send" }).waitFor();
  };
  const send = (): Promise<void> => editor.choices.filter({ hasText: "to the command ./judge.sh" }).click();

  await step("the commands of a gate are shown, and nothing is run that was not agreed to", async () => {
    await editor.openFile(["projects", "demo"], "trace.jsonl");
    await editor.closeSideBar();
    await editor.lenses.filter({ hasText: "not computable" }).first().waitFor();
    await editor.lenses.filter({ hasText: "judge…" }).first().waitFor();
    const mechanical = editor.choices.filter({ hasText: "mechanical" });
    // A lens that is drawn anew under the pointer, as once the workspace is read, takes no click.
    await until("the gates behind the lens", async () => {
      await editor.lenses.filter({ hasText: "gates…" }).first().click();
      return mechanical.waitFor({ timeout: 5_000 }).then(() => true, () => false);
    });
    await mechanical.click();
    await editor.dialog.filter({ hasText: "echo the types fit" }).filter({ hasText: sandbox.workspace }).waitFor();
    await editor.screenshot("gates");
    await editor.answer("Cancel");
    assert.deepEqual(await grades(), []);
  });

  await step("the report grades the run and mends it by the same commands", async () => {
    const report = editor.preview;
    const before = await readFile(sandbox.trace, "utf8");
    await editor.run("Drive Trace: Open Report");
    await report.getByRole("button", { name: "Judge this run…" }).click();
    await editor.asking("What was meant?").waitFor();
    await editor.press("Escape");
    await report.getByRole("button", { name: "Record…" }).click();
    await editor.asking("How did it come out?").waitFor();
    await editor.press("Escape");
    await writeFile(sandbox.trace, before.replaceAll(/("wall_clock_ms":\d+)}/g, "$1,}"));
    await report.getByText("error: invalid-json (2)").waitFor();
    await report.getByRole("button", { name: "Fix all" }).scrollIntoViewIfNeeded();
    await editor.screenshot("report-fix");
    assert.deepEqual(await editor.violations(editor.preview), []);
    await report.getByRole("button", { name: "Fix all" }).click();
    await report.getByText("invalid-json").waitFor({ state: "detached" });
    await editor.selectTab("trace.jsonl");
    await editor.save();
    assert.equal(await readFile(sandbox.trace, "utf8"), before);
    await editor.closeOthers();
  });

  await step("a gate is run, its output is to be seen, and what came of it is recorded", async () => {
    await askGate("mechanical");
    await editor.answer("Run");
    await editor.told("mechanical pass was recorded for demo");
    await editor.output.filter({ hasText: "the types fit" }).first().waitFor();
    await editor.verdict.filter({ hasText: "missing: qa, intent" }).waitFor();
    assert.deepEqual(await grades(), [{ mechanical: "pass", qa: null, intent: null }]);
    await editor.screenshot("gates-done");
    await editor.run("Notifications: Clear All Notifications");
  });

  await step("a gate that is cancelled ends with all that it has started, and records nothing", async () => {
    await askGate("qa");
    await editor.input.fill("sleep 987");
    await editor.press("Enter");
    await editor.answer("Run");
    const sleeping = async (): Promise<boolean> =>
      (await processesWith(sandbox.mark)).some(({ command }) => command === "sleep 987");
    await until("the gate", sleeping);
    await editor.toast.getByText("Cancel", { exact: true }).click();
    await editor.told("the gate was cancelled");
    await until("its end", async () => !(await sleeping()));
    assert.equal((await grades()).length, 1);
    await editor.run("Notifications: Clear All Notifications");
  });

  await step("one that fails to run records nothing, and says why; the command is remembered", async () => {
    await askGate("qa");
    await until("the command of last time", async () => (await editor.input.inputValue()) === "sleep 987");
    await editor.input.fill("no-such-program");
    await editor.press("Enter");
    await editor.answer("Run");
    await editor.told("nothing was recorded: the command was not found");
    await editor.run("Notifications: Clear All Notifications");
    await askGate("qa");
    await editor.input.fill("true");
    await editor.press("Enter");
    await editor.answer("Run");
    await editor.told("qa pass was recorded for demo");
    await editor.verdict.filter({ hasText: "missing: intent" }).waitFor();
    await editor.run("Notifications: Clear All Notifications");
    await editor.run("View: Hide Panel");
  });

  await step("a judge's prompt can be read before it is sent, and where it would go is named", async () => {
    await askJudge();
    await editor.tab("Prompt: demo").waitFor();
    await editor.lines.filter({ hasText: "You judge whether a change" }).first().waitFor();
    await editor.inputTitle.filter({ hasText: "Judge demo: is this prompt to be sent to the command ./judge.sh?" }).waitFor();
    await editor.choices.filter({ hasText: "not calibrated" }).filter({ hasText: "there is no drive-trace-calibration.json" }).waitFor();
    await editor.choices.filter({ hasText: /^my-judge · about [\d,]+ tokens/ }).waitFor();
    await editor.screenshot("judge");
    await editor.press("Enter");
    await editor.inputTitle.waitFor({ state: "hidden" });
    await editor.selectTab("trace.jsonl");
    assert.ok(!(await exists(asked(sandbox))), "nothing was sent");
  });

  await step("a judge that is not calibrated is asked only if that is wanted all the same", async () => {
    await askJudge();
    await send();
    await editor.dialog.filter({ hasText: "This judge is not calibrated" }).waitFor();
    await editor.screenshot("judge-uncalibrated");
    await editor.answer("Cancel");
    await editor.selectTab("trace.jsonl");
    assert.ok(!(await exists(asked(sandbox))), "nothing was sent");
  });

  await step("its verdict makes the run CORRECT, and its reasons open beside the trace", async () => {
    await askJudge();
    await send();
    await editor.answer("Record with an Uncalibrated Judge");
    await editor.told("intent pass was recorded for demo");
    await editor.lenses.filter({ hasText: /^CORRECT\b/ }).first().waitFor();
    await editor.tab("Reasons: demo").waitFor();
    await editor.preview.getByText("An empty line gives no entry").waitFor();
    assert.deepEqual((await grades()).at(-1), { mechanical: "pass", qa: "pass", intent: "pass" });
    assert.match(await readFile(asked(sandbox), "utf8"), /^You judge [^]*An empty line gives no entry/);
    await editor.run("Notifications: Clear All Notifications");
    await editor.screenshot("reasons");
  });

  await step("they link to the lines that they cite, in the workspace and nowhere else", async () => {
    assert.deepEqual(await editor.preview.locator("a").allInnerTexts(), ["src/parse.ts:2", "line 11"]);
    await editor.preview.locator("a", { hasText: "src/parse.ts:2" }).click();
    await editor.activeTab.filter({ hasText: "parse.ts" }).waitFor();
    await editor.cursor.filter({ hasText: "Ln 2, Col 1" }).waitFor();
    await editor.preview.locator("a", { hasText: "line 11" }).click();
    await editor.activeTab.filter({ hasText: "trace.jsonl" }).waitFor();
    await editor.cursor.filter({ hasText: "Ln 11, Col 1" }).waitFor();
    await editor.scrollToTop();
  });

  await step("and stand at these lines as comments, for as long as they are open", async () => {
    await editor.run("Comments: Focus on Comments View");
    await editor.comments.filter({ hasText: "An empty line gives no entry" }).first().waitFor();
    await editor.comments.filter({ hasText: "[a link](command:workbench.action.quit)" }).first().waitFor();
    await editor.screenshot("comments");
    await editor.closeTab("Reasons: demo");
    await editor.comments.first().waitFor({ state: "detached" });
    await editor.run("View: Hide Panel");
  });

  await step("a reply that is no verdict records nothing, and says why", async () => {
    const before = await readFile(sandbox.trace, "utf8");
    await writeFile(replyOf(sandbox), "I would say that it passes.");
    await askJudge();
    await send();
    await editor.answer("Record with an Uncalibrated Judge");
    await editor.told("nothing was recorded:");
    await editor.screenshot("no-verdict");
    assert.equal(await readFile(sandbox.trace, "utf8"), before);
    await editor.run("Notifications: Clear All Notifications");
    await editor.selectTab("trace.jsonl");
  });

  await step("both are in the menu of a run in the view of all runs", async () => {
    await editor.run("Focus on Runs View");
    await editor.pickFor(editor.rowOf("demo"), "Judge This Run…");
    await editor.inputTitle.filter({ hasText: "demo" }).waitFor();
    await editor.press("Escape");
    await editor.pickFor(editor.rowOf("demo"), "Run the Gates…");
    await editor.choices.filter({ hasText: "the types fit" }).waitFor();
    await editor.press("Escape");
    await editor.closeSideBar();
    await editor.selectTab("trace.jsonl");
  });

  await step("a trace with changes is saved before, or nothing is run", async () => {
    const before = await readFile(sandbox.trace, "utf8");
    await editor.press("Control+End");
    await editor.type(" ");
    await editor.dirtyTab.waitFor();
    await editor.press("Control+Home");
    await askGate("mechanical");
    await editor.answer("Run");
    await editor.dialog.filter({ hasText: "changes that are not saved" }).waitFor();
    await editor.answer("Cancel");
    assert.equal(await readFile(sandbox.trace, "utf8"), before);
  });

  await step("a grade goes into such a trace unsaved, and its line is one click away", async () => {
    await editor.runAsking("Drive Trace: Record Verdict…", "How did it come out?");
    await editor.grade({ intent: "fail" });
    await editor.verdict.filter({ hasText: "INCORRECT — intent failed" }).waitFor();
    const told = editor.toast.filter({ hasText: "which is not saved yet" });
    const line = /on line (\d+)/.exec(await told.innerText())?.[1];
    await told.getByText("Show Line", { exact: true }).click();
    await editor.cursor.filter({ hasText: `Ln ${line}, Col 1` }).waitFor();
    await editor.lines.filter({ hasText: '"intent":"fail"' }).last().waitFor();
    await editor.revert();
    await editor.run("Notifications: Clear All Notifications");
  });

  await step("a gate is a test, which is run from the view Testing", async () => {
    const count = (await grades()).length;
    await editor.run("Testing: Focus on Test Explorer View");
    await editor.tests.filter({ hasText: "demo" }).first().waitFor();
    await editor.run("Test: Run All Tests");
    await editor.dialog.filter({ hasText: "Run the gate mechanical of demo?" }).waitFor();
    await editor.answer("Run");
    await editor.passedTests.filter({ hasText: "demo" }).waitFor();
    await until("the grade", async () => (await grades()).length === count + 1);
    await editor.screenshot("gates-as-tests");
  });
}

function asked(sandbox: Sandbox): string {
  return path.join(sandbox.home, "asked");
}

function replyOf(sandbox: Sandbox): string {
  return path.join(sandbox.home, "reply");
}
