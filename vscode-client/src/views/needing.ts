import * as vscode from "vscode";

import { link, NoServer } from "../link";

/**
 * Does something that takes a server: starts it where nobody has yet, which is shown where it
 * takes a while, and says why nothing was done where there is no server, or it refuses.
 */
export async function withServer(need: () => Promise<void>, act: () => Promise<void>): Promise<void> {
  try {
    if (link.health === "not needed" || link.health === "starting") {
      const title = vscode.l10n.t("Drive Trace: starting the server…");
      await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, need);
    }
    await act();
  } catch (error) {
    void (error instanceof NoServer ? tellOfNoServer() : tellOf(error));
  }
}

async function tellOfNoServer(): Promise<void> {
  const [restart, log] = [vscode.l10n.t("Restart"), vscode.l10n.t("Show Log")];
  const problem = vscode.l10n.t("Drive Trace: the server is not running, so nothing was done.");
  const picked = await vscode.window.showErrorMessage(problem, restart, log);
  if (picked !== undefined) {
    await vscode.commands.executeCommand(picked === restart ? "driveTrace.restartServer" : "driveTrace.showServerLog");
  }
}

function tellOf(error: unknown): Thenable<unknown> {
  const reason = error instanceof Error ? error.message : String(error);
  return vscode.window.showErrorMessage(vscode.l10n.t("Drive Trace: nothing was done. {0}", reason));
}
