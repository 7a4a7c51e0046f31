import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import * as path from "node:path";

import type { Editor } from "./editor";
import { run } from "./processes";
import type { Sandbox } from "./sandbox";
import { client } from "./set-up";
import { step } from "./steps";
import { until } from "./until";

/** Stands for an agent: it calls the tools that `ask.json` names, and writes what they answer. */
const main = `
const vscode = require("vscode");
exports.activate = ({ subscriptions }) => subscriptions.push(vscode.commands.registerCommand("probe.ask", async () => {
  const file = (name) => vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, name);
  const asked = JSON.parse(new TextDecoder().decode(await vscode.workspace.fs.readFile(file("ask.json"))));
  const answers = { tools: vscode.lm.tools.map(({ name }) => name) };
  for (const [name, input] of asked) {
    try {
      const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined });
      answers[name] = JSON.parse(content.map(({ value }) => value).join(""));
    } catch (error) {
      answers[name] = { refused: error.message };
    }
  }
  await vscode.workspace.fs.writeFile(file("answers.json"), new TextEncoder().encode(JSON.stringify(answers)));
}));
`;

const manifest = {
  name: "probe", publisher: "drive-trace", version: "0.0.1", engines: { vscode: "^1.95.0" }, main: "./main.js", activationEvents: [],
  contributes: { commands: [{ command: "probe.ask", title: "Probe: Ask the Tools" }] },
};

/** Packages an agent's stand-in, as there is no agent without a network; gives its file. */
export async function packageProbe({ workshop }: Sandbox): Promise<string> {
  await mkdir(workshop, { recursive: true });
  await writeFile(path.join(workshop, "package.json"), JSON.stringify(manifest));
  await writeFile(path.join(workshop, "main.js"), main);
  await writeFile(path.join(workshop, "README.md"), "A stand-in.\n");
  const vsce = path.join(client, "node_modules", ".bin", "vsce");
  const options = ["--no-dependencies", "--allow-missing-repository", "--skip-license", "--out", "probe.vsix"];
  await run(vsce, ["package", ...options], { cwd: workshop });
  return path.join(workshop, "probe.vsix");
}

type Answers = Record<string, Record<string, unknown> & { refused?: string }>;

/** What an agent in the editor is told by the tools. */
export async function playAgent(editor: Editor, sandbox: Sandbox): Promise<void> {
  const file = "projects/demo/trace.jsonl";
  const answersFile = path.join(sandbox.workspace, "answers.json");
  const ask = async (...asked: readonly (readonly [string, object])[]): Promise<Answers> => {
    await writeFile(path.join(sandbox.workspace, "ask.json"), JSON.stringify(asked.map(([name, input]) => [`drive_trace_${name}`, input])));
    await writeFile(answersFile, "");
    await editor.run("Probe: Ask the Tools");
    if (asked.some(([name]) => name === "append_event")) {
      await editor.dialog.filter({ hasText: "Append an event?" }).waitFor();
      await editor.screenshot("agent-append");
      await editor.answer("Yes");
    }
    await until("the answers", async () => (await readFile(answersFile, "utf8")) !== "");
    return JSON.parse(await readFile(answersFile, "utf8")) as Answers;
  };
  const lines = async (): Promise<string[]> => (await readFile(sandbox.trace, "utf8")).trimEnd().split("\n");

  await step("the tools are there for agents, and say which events can come next", async () => {
    await editor.openFile(["projects", "demo"], "trace.jsonl");
    const { tools, drive_trace_next_events: next } = await ask(["next_events", { file }]);
    for (const name of ["next_events", "append_event", "check", "verdict", "why_halted"]) {
      assert.ok((tools as unknown as string[]).includes(`drive_trace_${name}`), name);
    }
    const events = (next?.next as { event: string }[]).map(({ event }) => event);
    assert.ok(events.includes("correctness-recorded"), JSON.stringify(next));
  });

  await step("no answer calls a run good that nobody has graded", async () => {
    const answers = await ask(["verdict", { file }], ["check", { file }], ["why_halted", { file }]);
    const { drive_trace_verdict: verdict } = answers;
    assert.match(String(verdict?.verdict), /^not computable/);
    assert.equal(verdict?.isEarnedCorrect, false);
    assert.match(String(verdict.note), /^This does not say that the run is good/);
    assert.match(String(answers.drive_trace_check?.note), /does not say that the run is good/);
    assert.match(String(answers.drive_trace_why_halted?.halted), /^No halt is recorded/);
  });

  await step("an event is filled in, checked and appended, and a grade is refused", async () => {
    const before = await lines();
    const fields = { artifact_path: "projects/demo/spec.md", triggered_by: "wip-inspection", assumption_summary: "the parser takes any line" };
    const append = async (event: string, given: object): Promise<string> => {
      return JSON.stringify(await ask(["append_event", { file, event, fields: given }]));
    };
    assert.match(await append("correctness-recorded", { qa: "pass" }), /a grade is recorded by a person/);
    assert.match(await append("round-end", { verdict: "good" }), /verdict/);
    assert.match(await append("falsified-assumption", { artifact_path: fields.artifact_path }), /triggered_by/);
    assert.deepEqual(await lines(), before, "what is refused writes nothing");
    assert.match(await append("falsified-assumption", fields), /\\"assumption_summary\\"/);
    assert.equal((await lines()).length, before.length + 1);
  });

  await step("it says why a run halted, and names the line", async () => {
    const { drive_trace_why_halted: halts } = await ask(["why_halted", { file }]);
    assert.match(String(halts?.halted), /^Halted once: .*the parser takes any line.*line 13/);
    await editor.screenshot("agent");
  });
}
