import * as vscode from "vscode";

import type { Gated, JudgeSettings } from "./words";

export const judgeSection = "driveTrace.judge";

/** The commands that a setting names for a gate. */
export function gateCommands(component: Gated, trace: vscode.Uri): string[] {
  const value = vscode.workspace.getConfiguration("driveTrace.gates", trace).get<unknown>(component);
  const commands: unknown[] = Array.isArray(value) ? value : [];
  return commands.filter((each) => typeof each === "string").filter((each) => each.trim() !== "");
}

export function judgeSettings(trace: vscode.Uri): JudgeSettings {
  const section = vscode.workspace.getConfiguration(judgeSection, trace);
  const text = (name: string): string => {
    const value = section.get<unknown>(name);
    return typeof value === "string" ? value.trim() : "";
  };
  return {
    model: text("model"),
    api: text("api"),
    baseUrl: text("baseUrl"),
    modelCommand: text("modelCommand"),
    family: text("family"),
    orchestratorFamily: text("orchestratorFamily"),
    calibration: text("calibration"),
  };
}
