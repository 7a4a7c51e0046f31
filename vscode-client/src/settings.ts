import * as vscode from "vscode";

/** The settings under `driveTrace`; those `forServer` go to the server as they are. */
export interface Settings {
  readonly serverPath: string;
  readonly forServer: {
    readonly maxFindings: number;
    readonly ruleUrl: string;
    readonly rules: Readonly<Record<string, unknown>>;
    readonly logToClient: string;
  };
}

export const serverPathSetting = "driveTrace.server.path";

export function readSettings(): Settings {
  const settings = vscode.workspace.getConfiguration("driveTrace");
  return {
    serverPath: settings.get<string>("server.path", "").trim() || "drive-trace",
    forServer: {
      maxFindings: settings.get<number>("maxFindings", 1000),
      ruleUrl: settings.get<string>("ruleUrl", ""),
      rules: settings.get<Readonly<Record<string, unknown>>>("rules", {}),
      logToClient: settings.get<string>("logToClient", "off"),
    },
  };
}
