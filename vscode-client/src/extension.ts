import * as vscode from "vscode";

import { registerTools } from "./agent/tools";
import { openExample } from "./example";
import { registerGrading } from "./grading/register";
import { keepRecordsWhole, onTrace, showWhereTracesAre, watchLanguage, workspaceHasTrace } from "./language";
import { Server } from "./server";
import { serverSettings } from "./settings";
import { WorkspacePython } from "./starting/workspace-python";
import { registerViews } from "./views/register";

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Drive Trace", { log: true });
  const workspacePython = new WorkspacePython(() => void started.startOtherwise());
  const started = (server = createServer(context, log, workspacePython));
  context.subscriptions.push(
    log,
    workspacePython,
    watchLanguage(),
    showWhereTracesAre(),
    keepRecordsWhole(),
    registerTools(() => started.start()),
    onTrace(() => { void started.start(); }),
    vscode.commands.registerCommand("driveTrace.restartServer", () => started.restart()),
    vscode.commands.registerCommand("driveTrace.openExample", (name) => openExample(context, name)),
    vscode.commands.registerCommand("driveTrace.showServerLog", () => { log.show(); }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => started.startOtherwise()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (serverSettings.some((name) => change.affectsConfiguration(name))) {
        void started.startOtherwise();
      }
    }),
  );
  registerViews(context, () => started.start());
  registerGrading(context, () => started.start(), () => started.program);
  void startWhereTracesAre(started);
}

export function deactivate(): Promise<void> | undefined {
  return server?.stop();
}

/** Python takes half a second or more to start: nobody who opens a trace is to wait for that. */
async function startWhereTracesAre(started: Server): Promise<void> {
  if (await workspaceHasTrace()) {
    await started.startEarly();
  }
}

function createServer(
  context: vscode.ExtensionContext, log: vscode.LogOutputChannel, workspacePython: WorkspacePython,
): Server {
  const home = {
    version: (context.extension.packageJSON as { version: string }).version,
    bundle: context.asAbsolutePath("server"),
    storage: context.globalStorageUri.fsPath,
  };
  return new Server(log, home, workspacePython);
}
