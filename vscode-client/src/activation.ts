import * as vscode from "vscode";

import { registerTools } from "./agent/tools";
import { openExample } from "./example";
import { keepRecordsWhole, onTrace, showWhereTracesAre, watchLanguage } from "./language";
import { type Host, Server } from "./server";
import { serverSettings } from "./settings";
import { registerViews } from "./views/register";

/** Does all but what grades runs, with the servers of a host. */
export function activateOn(host: Host, context: vscode.ExtensionContext, log: vscode.LogOutputChannel): Server {
  const server = new Server(log, host);
  context.subscriptions.push(
    log,
    watchLanguage(),
    showWhereTracesAre(() => server.startEarly()), // Python takes half a second to start: nobody who opens a trace is to wait for that
    keepRecordsWhole(),
    registerTools(() => server.start()),
    onTrace(() => { void server.start(); }),
    vscode.commands.registerCommand("driveTrace.restartServer", () => server.restart()),
    vscode.commands.registerCommand("driveTrace.openExample", (name) => openExample(context, name)),
    vscode.commands.registerCommand("driveTrace.showServerLog", () => { log.show(); }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => server.startOtherwise()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (serverSettings.some((name) => change.affectsConfiguration(name))) {
        void server.startOtherwise();
      }
    }),
  );
  registerViews(context, () => server.start());
  return server;
}
