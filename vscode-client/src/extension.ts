import * as vscode from "vscode";

import { onTrace, watchLanguage } from "./language";
import { link } from "./link";
import { Server } from "./server";
import { serverSettings } from "./settings";
import { watchWorkspacePython } from "./starting/workspace-python";
import { registerViews } from "./views/register";

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Drive Trace");
  const started = (server = createServer(context, log));
  let watched: Promise<unknown> | undefined;
  const need = (): Promise<void> => {
    watched ??= watchWorkspacePython(() => void started.startOtherwise())
      .then((watch) => watch && context.subscriptions.push(watch));
    return link.follow(started.start());
  };
  context.subscriptions.push(
    log,
    watchLanguage(),
    onTrace(() => { void need(); }),
    vscode.commands.registerCommand("driveTrace.restartServer", () => link.follow(started.restart())),
    vscode.commands.registerCommand("driveTrace.showServerLog", () => { log.show(); }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => started.startOtherwise()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (serverSettings.some((name) => change.affectsConfiguration(name))) {
        void started.startOtherwise();
      }
    }),
  );
  registerViews(context, need);
}

export function deactivate(): Promise<void> | undefined {
  return server?.stop();
}

function createServer(context: vscode.ExtensionContext, log: vscode.OutputChannel): Server {
  return new Server(log, {
    version: (context.extension.packageJSON as { version: string }).version,
    bundle: context.asAbsolutePath("server"),
    storage: context.globalStorageUri.fsPath,
  });
}
