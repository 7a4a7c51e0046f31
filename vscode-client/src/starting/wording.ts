import * as vscode from "vscode";

import type { Bundle } from "./bundle";
import { type Interpreter, isBareCommand } from "./interpreters";

export const commandSetting = "driveTrace.server.command";
export const pythonSetting = "driveTrace.server.python";

/** What a person is told when there is no server to start. */
export interface Told {
  readonly text: string;
  /** The setting that can help. */
  readonly setting: string;
}

export function missingServer(version: string): Told {
  const text = vscode.l10n.t(
    "This build of the extension carries no server, and no drive-trace of version {0} was found. Name one in the settings.",
    version,
  );
  return { text, setting: commandSetting };
}

export function missingProgram(name: string): Told {
  const text = isBareCommand(name)
    ? vscode.l10n.t(
        'No executable file "{0}" was found on the PATH. Change the command of the server, or leave it empty for the server that comes with the extension.',
        name,
      )
    : vscode.l10n.t(
        'There is no executable file "{0}". Change the command of the server, or leave it empty for the server that comes with the extension.',
        name,
      );
  return { text, setting: commandSetting };
}

/** `wanted` is the Python that is set, empty for none; `found` are those that cannot run the bundle. */
export function missingPython(wanted: string, { compiled, target }: Bundle, found: readonly Interpreter[]): Told {
  const fitting = Object.values(compiled).map((folder) => folder.replace("cp3", "3.")).join(", ");
  const others = [...new Set(found.map(({ file, version }) => `${file} (${version})`))].join(", ");
  const lack = others !== ""
    ? vscode.l10n.t("but only found {0}", others)
    : wanted === "" ? vscode.l10n.t("but none was found") : vscode.l10n.t('but "{0}" is none', wanted);
  const text = vscode.l10n.t(
    "Python 3.11 or newer is needed to run the server ({0} for {1}), {2}. Install one, or name one in the settings.", fitting, target, lack,
  );
  return { text, setting: pythonSetting };
}
