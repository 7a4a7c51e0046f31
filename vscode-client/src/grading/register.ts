import * as vscode from "vscode";

import type { Command } from "../starting/choice";
import { withServer } from "../views/needing";
import { GateTests } from "./gate-tests";
import { runGates } from "./gates";
import { judgeRun } from "./judging";
import { Program } from "./program";
import { Prompts } from "./prompt";
import { Reasons } from "./reasons";

/**
 * The commands that run gates and ask a judge, with the program that the server is; nothing of it
 * is run or sent in a workspace that is not trusted, whatever its settings name.
 */
export function registerGrading(
  context: vscode.ExtensionContext, need: () => Promise<void>, program: () => Command | undefined,
): void {
  const court = {
    program: new Program(program), prompts: new Prompts(), reasons: new Reasons(), memory: context.workspaceState,
  };
  const command = (name: string, act: (given: unknown) => Promise<void>): vscode.Disposable =>
    vscode.commands.registerCommand(`driveTrace.${name}`, (given) =>
      vscode.workspace.isTrusted ? withServer(need, () => act(given)) : tellOfTrust());
  context.subscriptions.push(
    court.program, court.prompts, court.reasons, new GateTests(court.program, court.memory),
    command("runGates", (given) => runGates(given, court.program, court.memory)),
    command("judgeRun", (given) => judgeRun(given, court)),
  );
}

async function tellOfTrust(): Promise<void> {
  const manage = vscode.l10n.t("Manage Workspace Trust");
  const text = vscode.l10n.t("Drive Trace: this workspace is not trusted, so nothing is run or sent.");
  if ((await vscode.window.showWarningMessage(text, manage)) === manage) {
    await vscode.commands.executeCommand("workbench.trust.manage");
  }
}
