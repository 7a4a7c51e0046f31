import * as vscode from "vscode";

import { Server } from "./server";
import { serverPathSetting } from "./settings";
import { registerViews } from "./views/register";

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("Drive Trace");
  const started = (server = new Server(log));
  context.subscriptions.push(
    log,
    vscode.commands.registerCommand("driveTrace.restartServer", () => started.restart()),
    vscode.commands.registerCommand("driveTrace.showServerLog", () => { log.show(); }),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration(serverPathSetting)) {
        void started.restart();
      }
    }),
  );
  registerViews(context);
  await started.restart();
}

export function deactivate(): Promise<void> | undefined {
  return server?.stop();
}
