import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import * as path from "node:path";

/** What decides where a server command is looked for. */
export interface Surroundings {
  /** Folder that a relative path starts from; without one it is not found. */
  readonly workspaceFolder: string | undefined;
  readonly home: string;
  /** The value of the `PATH` variable. */
  readonly searchPath: string;
}

export type ServerCommand =
  | { readonly found: true; readonly file: string }
  | { readonly found: false; readonly tried: readonly string[] };

/** Finds the executable that `setting` names: a bare command on the `PATH`, else a path. */
export async function findServer(setting: string, around: Surroundings): Promise<ServerCommand> {
  const tried = candidates(setting, around).flatMap(withExecutableExtension);
  for (const file of tried) {
    if (await isExecutable(file)) {
      return { found: true, file };
    }
  }
  return { found: false, tried };
}

/** What to tell when there is no executable file that `setting` names. */
export function missingServer(setting: string): string {
  const where = isBareCommand(setting) ? "on the PATH" : "there";
  return `No executable file "${setting}" was found ${where}. Install drive-trace as the Install section ` +
    `of its README says ("pipx install ." in a checkout), or set its path.`;
}

function isBareCommand(setting: string): boolean {
  return !/[\\/]/.test(setting);
}

function candidates(setting: string, around: Surroundings): string[] {
  if (isBareCommand(setting)) {
    const folders = around.searchPath.split(path.delimiter).filter((folder) => folder !== "");
    return folders.map((folder) => path.join(folder, setting));
  }
  const expanded = setting.replace(/^~(?=[\\/])/, around.home);
  if (path.isAbsolute(expanded)) {
    return [expanded];
  }
  return around.workspaceFolder === undefined ? [] : [path.join(around.workspaceFolder, expanded)];
}

function withExecutableExtension(file: string): string[] {
  return process.platform === "win32" && path.extname(file) === "" ? [`${file}.exe`] : [file];
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
