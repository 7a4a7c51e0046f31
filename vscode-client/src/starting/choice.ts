import * as path from "node:path";

import { type Bundle, launchArguments } from "./bundle";
import { describe, fits, type Interpreter, parseDescription, usualCommands } from "./interpreters";
import { isBareCommand, type Program } from "./programs";
import { isCompatible, parseVersion } from "./versions";

/** What settings, the workspace and the extension have to say about which server to start. */
export interface Wishes {
  /** A program and its first arguments; empty for none. */
  readonly command: readonly string[];
  /** A Python for the server that comes with the extension; empty for none. */
  readonly python: string;
  /** The Python of the workspace, if there is one that may be used. */
  readonly environment: string | undefined;
  /** The version that a server of the workspace or on the `PATH` has to be compatible with. */
  readonly version: string;
  readonly bundle: Bundle | undefined;
  /** A folder for what the interpreter compiles. */
  readonly cache: string;
}

/** How the machine is looked at. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  find(name: string): Promise<Program>;
  /** What a program prints, or nothing when it fails. */
  ask(file: string, args: readonly string[]): Promise<string | undefined>;
  note(line: string): void;
}

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
}

export type Choice =
  | { readonly found: true; readonly command: Command }
  | { readonly found: false; readonly problem: string; readonly setting: string };

export const commandSetting = "driveTrace.server.command";
export const pythonSetting = "driveTrace.server.python";

/** The server that is set, else an installed one that is compatible, else the extension's own. */
export async function chooseServer(wishes: Wishes, machine: Machine): Promise<Choice> {
  const [program, ...args] = wishes.command;
  if (program !== undefined) {
    return setCommand(program, args, machine);
  }
  const installed = await installedServer(wishes, machine);
  return installed === undefined ? bundledServer(wishes, machine) : choice(installed, []);
}

async function setCommand(program: string, args: readonly string[], machine: Machine): Promise<Choice> {
  const server = await find(program, machine);
  if (server !== undefined) {
    return choice(server, args);
  }
  const where = isBareCommand(program) ? "on the PATH" : "there";
  const problem = `No executable file "${program}" was found ${where}. Change the command of the server, ` +
    "or leave it empty for the server that comes with the extension.";
  return { found: false, problem, setting: commandSetting };
}

async function installedServer(wishes: Wishes, machine: Machine): Promise<string | undefined> {
  const wanted = parseVersion(wishes.version);
  for (const name of [...besides(wishes.environment, machine.platform), "drive-trace"]) {
    const file = await find(name, machine);
    const answer = file === undefined ? undefined : await machine.ask(file, ["--version"]);
    const version = parseVersion(answer ?? "");
    if (version !== undefined && wanted !== undefined && isCompatible(version, wanted)) {
      return file;
    }
    if (file !== undefined) {
      machine.note(`${file} is passed over: ${version?.join(".") ?? "no version"}, but ${wishes.version} is needed`);
    }
  }
  return undefined;
}

/** Where an environment has its commands. */
function besides(interpreter: string | undefined, platform: NodeJS.Platform): string[] {
  if (interpreter === undefined) {
    return [];
  }
  const folder = path.dirname(interpreter);
  const folders = platform === "win32" ? [folder, path.join(folder, "Scripts")] : [folder];
  return folders.map((each) => path.join(each, "drive-trace"));
}

async function bundledServer(wishes: Wishes, machine: Machine): Promise<Choice> {
  const { bundle, cache } = wishes;
  if (bundle === undefined) {
    const problem = "This build of the extension carries no server, and no drive-trace " +
      `of version ${wishes.version} was found. Name one in the settings.`;
    return { found: false, problem, setting: commandSetting };
  }
  const found: Interpreter[] = [];
  for (const [name = "", ...args] of interpreters(wishes, bundle, machine.platform)) {
    const interpreter = await interpreterOf(name, args, machine);
    if (interpreter !== undefined && fits(interpreter, bundle)) {
      return choice(interpreter.file, launchArguments(bundle, cache));
    }
    if (interpreter !== undefined) {
      machine.note(`${interpreter.file} cannot run it: ${interpreter.version}, ${interpreter.suffix}`);
      found.push(interpreter);
    }
  }
  return { found: false, problem: missingPython(wishes.python, bundle, found), setting: pythonSetting };
}

function interpreters({ python, environment }: Wishes, bundle: Bundle, platform: NodeJS.Platform): string[][] {
  if (python !== "") {
    return [[python]];
  }
  const own = environment === undefined ? [] : [[environment]];
  return [...own, ...usualCommands(bundle, platform)];
}

async function interpreterOf(
  name: string,
  args: readonly string[],
  machine: Machine,
): Promise<Interpreter | undefined> {
  const file = await find(name, machine);
  const answer = file === undefined ? undefined : await machine.ask(file, [...args, ...describe]);
  return parseDescription(answer ?? "");
}

function missingPython(wanted: string, bundle: Bundle, found: readonly Interpreter[]): string {
  const versions = Object.values(bundle.compiled).map((folder) => folder.replace("cp3", "3."));
  const seen = [...new Set(found.map(({ file, version }) => `${file} (${version})`))];
  const none = wanted === "" ? "none was found" : `"${wanted}" is none`;
  const instead = seen.length === 0 ? none : `only found ${seen.join(", ")}`;
  return `Python 3.11 or newer is needed to run the server (${versions.join(", ")} for ${bundle.target}), ` +
    `but ${instead}. Install one, or name one in the settings.`;
}

async function find(name: string, machine: Machine): Promise<string | undefined> {
  const program = await machine.find(name);
  if (program.found) {
    return program.file;
  }
  machine.note(`no ${name}: looked for ${program.tried.join(", ") || "nothing, as no folder is open"}`);
  return undefined;
}

function choice(file: string, args: readonly string[]): Choice {
  return { found: true, command: { file, args: [...args, "serve"] } };
}
