import * as vscode from "vscode";

/** What `driveTrace` holds: all of it goes to the server, which takes what it knows. */
export interface Settings {
  readonly serverPath: string;
  readonly forServer: unknown;
}

export const serverPathSetting = "driveTrace.server.path";

export function readSettings(): Settings {
  const all = vscode.workspace.getConfiguration();
  return {
    serverPath: all.get<string>(serverPathSetting, "").trim() || "drive-trace",
    forServer: all.get<unknown>("driveTrace"),
  };
}
