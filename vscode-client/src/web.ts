/** The extension in a browser: it starts no program, and sees no disk. */

import * as vscode from "vscode";

import { activateOn } from "./activation";
import type { Server } from "./server";
import { BrowserHost } from "./starting/web/host";
import { withServer } from "./views/needing";

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Drive Trace", { log: true });
  const started = (server = activateOn(new BrowserHost(context, log), context, log));
  const absent = (): Promise<void> => {
    throw new Error(vscode.l10n.t("Gates and judges are programs, and the server runs in WebAssembly, which can start none. Open the folder in VS Code on your machine for them."));
  };
  const commands = ["runGates", "judgeRun"].map((name) =>
    vscode.commands.registerCommand(`driveTrace.${name}`, () => withServer(() => started.start(), absent)));
  context.subscriptions.push(...commands);
}

export function deactivate(): Promise<void> | undefined {
  return server?.stop();
}
