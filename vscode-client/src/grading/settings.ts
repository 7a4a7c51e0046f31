import * as vscode from "vscode";

import { type Gated, judgeOptions, type JudgeSettings } from "./words";

export const judgeSection = "driveTrace.judge";

/** The commands that a setting names for a gate. */
export function gateCommands(component: Gated, trace: vscode.Uri): string[] {
  const value = vscode.workspace.getConfiguration("driveTrace.gates", trace).get<unknown>(component);
  const commands: unknown[] = Array.isArray(value) ? value : [];
  return commands.filter((each) => typeof each === "string").filter((each) => each.trim() !== "");
}

export function judgeSettings(trace: vscode.Uri): JudgeSettings {
  const section = vscode.workspace.getConfiguration(judgeSection, trace);
  const set = Object.keys(judgeOptions).map((name) => [name, section.get<unknown>(name)] as const);
  return Object.fromEntries(set.map(([name, value]) => [name, typeof value === "string" ? value.trim() : ""])) as JudgeSettings;
}
