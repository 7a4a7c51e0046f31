import * as vscode from "vscode";

import { commandSetting, pythonSetting } from "./starting/wording";

/** What `driveTrace` holds: all of it goes to the server, which takes what it knows. */
export interface Settings {
  /** A program and its first arguments; empty for none. */
  readonly serverCommand: readonly string[];
  readonly python: string;
  readonly forServer: object | undefined;
}

export const serverSettings = [commandSetting, pythonSetting];

export function readSettings(): Settings {
  return {
    serverCommand: words(machineSetting(commandSetting)),
    python: words(machineSetting(pythonSetting))[0] ?? "",
    forServer: vscode.workspace.getConfiguration().get<object>("driveTrace"),
  };
}

/** A setting that names a program: in a workspace that is not trusted, only the person's own value. */
function machineSetting(name: string): unknown {
  const all = vscode.workspace.getConfiguration();
  return vscode.workspace.isTrusted ? all.get(name) : all.inspect(name)?.globalValue;
}

function words(value: unknown): string[] {
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((word) => typeof word === "string").map((word) => word.trim()).filter((word) => word !== "");
}
