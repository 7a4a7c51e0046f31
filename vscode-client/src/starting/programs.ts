import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import * as path from "node:path";

import { isBareCommand } from "./interpreters";

/** What decides where a program is looked for. */
export interface Surroundings {
  /** The folders that a relative path may start from; without any it is not found. */
  readonly workspaceFolders: readonly string[];
  readonly home: string;
  /** The value of the `PATH` variable. */
  readonly searchPath: string;
}

export type Program =
  | { readonly found: true; readonly file: string }
  | { readonly found: false; readonly tried: readonly string[] };

/** Finds the executable that `name` stands for: a bare command on the `PATH`, else a path. */
export async function findProgram(name: string, around: Surroundings): Promise<Program> {
  const tried = candidates(name, around).flatMap(withExecutableExtension);
  for (const file of tried) {
    if (await isExecutable(file)) {
      return { found: true, file };
    }
  }
  return { found: false, tried };
}

/** What a program prints, or nothing if it fails or takes longer than `patience` milliseconds. */
export function ask(file: string, args: readonly string[], cwd: string, patience = 10_000): Promise<string | undefined> {
  const options = { cwd, timeout: patience, killSignal: "SIGKILL", windowsHide: true } as const;
  return new Promise<string | undefined>((resolve) => {
    // It throws where the system cannot make a process of the file at all.
    execFile(file, args, options, (error, output) => { resolve(error === null ? output : undefined); });
  }).catch(() => undefined);
}

function candidates(name: string, around: Surroundings): string[] {
  if (isBareCommand(name)) {
    // A relative folder would mean another one for whoever starts the program.
    const folders = around.searchPath.split(path.delimiter).filter((folder) => path.isAbsolute(folder));
    return folders.map((folder) => path.join(folder, name));
  }
  const expanded = name.replace(/^~(?=[\\/])/, around.home);
  if (path.isAbsolute(expanded)) {
    return [expanded];
  }
  return around.workspaceFolders.map((folder) => path.join(folder, expanded));
}

function withExecutableExtension(file: string): string[] {
  return process.platform === "win32" && path.extname(file).toLowerCase() !== ".exe" ? [`${file}.exe`] : [file];
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch (error) {
    // The aliases that the Microsoft Store installs can be run, and cannot be looked at.
    return process.platform === "win32" && (error as NodeJS.ErrnoException).code === "EACCES";
  }
}
