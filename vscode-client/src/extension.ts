import * as vscode from "vscode";

import { activateOn } from "./activation";
import { registerGrading } from "./grading/register";
import type { Server } from "./server";
import { Processes } from "./starting/processes";
import { WorkspacePython } from "./starting/workspace-python";

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Drive Trace", { log: true });
  const workspacePython = new WorkspacePython(() => void started.startOtherwise());
  const home = {
    version: (context.extension.packageJSON as { version: string }).version,
    bundle: context.asAbsolutePath("server"),
    storage: context.globalStorageUri.fsPath,
  };
  const started = (server = activateOn(new Processes(log, home, workspacePython), context, log));
  context.subscriptions.push(workspacePython);
  registerGrading(context, () => started.start(), () => started.program);
}

export function deactivate(): Promise<void> | undefined {
  return server?.stop();
}
