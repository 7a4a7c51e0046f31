import * as vscode from "vscode";

import type { Problem } from "./choice";
import { isBareCommand } from "./interpreters";

export const commandSetting = "driveTrace.server.command";
export const pythonSetting = "driveTrace.server.python";

/** What a person is told when there is no server to start. */
export interface Told {
  readonly text: string;
  /** The setting that can help. */
  readonly setting: string;
}

export function tell(problem: Problem): Told {
  switch (problem.kind) {
    case "no-program":
      return { text: missingProgram(problem.name), setting: commandSetting };
    case "no-server":
      return {
        text: vscode.l10n.t(
          "This build of the extension carries no server, and no drive-trace of version {0} was found. Name one in the settings.",
          problem.version,
        ),
        setting: commandSetting,
      };
    case "no-python":
      return { text: missingPython(problem), setting: pythonSetting };
  }
}

function missingProgram(name: string): string {
  return isBareCommand(name)
    ? vscode.l10n.t(
        'No executable file "{0}" was found on the PATH. Change the command of the server, or leave it empty for the server that comes with the extension.',
        name,
      )
    : vscode.l10n.t(
        'There is no executable file "{0}". Change the command of the server, or leave it empty for the server that comes with the extension.',
        name,
      );
}

function missingPython({ wanted, target, versions, found }: Extract<Problem, { kind: "no-python" }>): string {
  const fitting = versions.join(", ");
  if (found.length > 0) {
    return vscode.l10n.t(
      "Python 3.11 or newer is needed to run the server ({0} for {1}), but only found {2}. Install one, or name one in the settings.",
      fitting, target, found.join(", "),
    );
  }
  return wanted === ""
    ? vscode.l10n.t(
        "Python 3.11 or newer is needed to run the server ({0} for {1}), but none was found. Install one, or name one in the settings.",
        fitting, target,
      )
    : vscode.l10n.t(
        'Python 3.11 or newer is needed to run the server ({0} for {1}), but "{2}" is none. Install one, or name one in the settings.',
        fitting, target, wanted,
      );
}
