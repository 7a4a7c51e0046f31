import * as vscode from "vscode";

import { isSaved, type Outcome, type Program, type Subject, subjectOf } from "./program";
import { gateCommands } from "./settings";
import { gateArguments, type Gated, plain } from "./words";

/** Runs the commands of a gate, once a person has seen them, and tells what was recorded. */
export async function runGates(given: unknown, program: Program, memory: vscode.Memento): Promise<void> {
  const subject = await subjectOf(given);
  const component = subject && (await pickComponent(subject));
  const gate = component && (await gateOf(component, subject, program, memory));
  if (subject === undefined || component === undefined || gate === undefined) {
    return;
  }
  program.show();
  const ended = await gate();
  if (ended === undefined) {
    void vscode.window.showInformationMessage(vscode.l10n.t("Drive Trace: the gate was cancelled."));
  } else if (ended.code === 0 || ended.code === 1) {
    await program.tellOfGrade(component, ended.code === 0 ? "pass" : "fail", subject);
  } else {
    await program.tellOfFailure(ended);
  }
}

/** What runs the commands of a gate, once a person has seen them; undefined where they are not to be run. */
export async function gateOf(
  component: Gated, subject: Subject, program: Program, memory: vscode.Memento,
): Promise<(() => Promise<Outcome>) | undefined> {
  const commands = await commandsOf(component, subject, memory);
  if (!commands || !(await isConfirmed(component, commands, subject)) || !(await isSaved(subject))) {
    return undefined;
  }
  const title = vscode.l10n.t("Drive Trace: running the gate {0} of {1}", component, subject.label);
  return () => program.run(gateArguments(subject, component, commands), subject, title);
}

async function pickComponent({ run, uri, label }: Subject): Promise<Gated | undefined> {
  const asks = vscode.l10n.t("asks for a command");
  const items = (["mechanical", "qa"] as const).map((component) => ({
    label: component,
    description: run.correctness?.[component] ?? vscode.l10n.t("not recorded"),
    detail: gateCommands(component, uri).map((each) => plain(each, 120)).join(" · ") || asks,
  }));
  const placeHolder = vscode.l10n.t("Which gate is to be run? You see its commands before they are.");
  return (await vscode.window.showQuickPick(items, { placeHolder, title: label }))?.label;
}

/** Those of the setting, else one that a person types, as last time. */
async function commandsOf(component: Gated, { uri, label }: Subject, memory: vscode.Memento): Promise<string[] | undefined> {
  const set = gateCommands(component, uri);
  if (set.length > 0) {
    return set;
  }
  const key = `gate.${component}`;
  const typed = await vscode.window.showInputBox({
    title: label,
    prompt: vscode.l10n.t("The command that decides {0}: pass if it exits with 0. The setting {1} keeps several.",
      component, `driveTrace.gates.${component}`),
    value: memory.get(key, ""),
    ignoreFocusOut: true,
  });
  if (typed === undefined || typed.trim() === "") {
    return undefined;
  }
  await memory.update(key, typed);
  return [typed];
}

async function isConfirmed(component: Gated, commands: readonly string[], { folder, label }: Subject): Promise<boolean> {
  const run = vscode.l10n.t("Run");
  const question = vscode.l10n.t("Run the gate {0} of {1}?", component, label);
  const where = vscode.l10n.t("In {0}:", folder);
  const detail = [where, ...commands].join("\n\n");
  return (await vscode.window.showInformationMessage(question, { modal: true, detail }, run)) === run;
}
