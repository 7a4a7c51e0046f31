import * as path from "node:path";

import { type Bundle, launchArguments } from "./bundle";
import { describe, fits, type Interpreter, parseDescription, usualCommands } from "./interpreters";
import type { Program } from "./programs";
import { isCompatible, parseVersion } from "./versions";
import { inWebAssembly } from "./wasm/command";
import { missingProgram, missingPython, missingServer, type Told } from "./wording";

/** What settings, the workspace and the extension have to say about which server to start. */
export interface Wishes {
  /** A program and its first arguments; empty for none. */
  readonly command: readonly string[];
  /** A Python for the server that comes with the extension; empty for none. */
  readonly python: string;
  /** The Pythons of the workspace's folders that may be used. */
  readonly environments: readonly string[];
  /** The version that a server of the workspace or on the `PATH` has to be compatible with. */
  readonly version: string;
  readonly bundle: Bundle | undefined;
  /** Whether the extension carries what runs without a Python. */
  readonly hasWebAssembly: boolean;
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

/** A drive-trace without its subcommand. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  /** Whether it is the server that the extension carries. */
  readonly isOwn: boolean;
  /** Whether it runs without a Python of the machine, and so can start no program and lock no file. */
  readonly inWebAssembly: boolean;
}

export type Choice =
  | { readonly found: true; readonly command: Command }
  | { readonly found: false; readonly problem: Told };

/** The server that is set, else an installed one that is compatible, else the extension's own. */
export async function chooseServer(wishes: Wishes, machine: Machine): Promise<Choice> {
  const [program, ...args] = wishes.command;
  if (program !== undefined) {
    const server = await find(program, machine);
    return server === undefined ? { found: false, problem: missingProgram(program) } : choice(server, args);
  }
  // Both are looked for at once: each has to ask programs, which takes a tenth of a second.
  const own = bundledServer(wishes, machine);
  const installed = await installedServer(wishes, machine);
  return installed === undefined ? own : choice(installed, []);
}

async function installedServer(wishes: Wishes, machine: Machine): Promise<string | undefined> {
  const wanted = parseVersion(wishes.version);
  const beside = wishes.environments.flatMap((python) => besides(python, machine.platform));
  for (const name of [...beside, "drive-trace"]) {
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
function besides(interpreter: string, platform: NodeJS.Platform): string[] {
  const folder = path.dirname(interpreter);
  const folders = platform === "win32" ? [folder, path.join(folder, "Scripts")] : [folder];
  return folders.map((each) => path.join(each, "drive-trace"));
}

async function bundledServer(wishes: Wishes, machine: Machine): Promise<Choice> {
  const { bundle, cache, python, environments } = wishes;
  if (bundle === undefined) {
    return { found: false, problem: missingServer(wishes.version) };
  }
  const found: Interpreter[] = [];
  const commands = python === "" ? [...environments.map((each) => [each]), ...usualCommands(bundle, machine.platform)] : [[python]];
  for (const [name = "", ...args] of commands) {
    const interpreter = await interpreterOf(name, args, machine);
    if (interpreter !== undefined && fits(interpreter, bundle)) {
      return choice(interpreter.file, launchArguments(bundle, cache), true);
    }
    if (interpreter !== undefined) {
      machine.note(`${interpreter.file} cannot run it: ${interpreter.version}, ${interpreter.suffix}`);
      found.push(interpreter);
    }
  }
  if (wishes.hasWebAssembly && python === "") {
    machine.note("No Python can run the server: it runs in WebAssembly.");
    return inWebAssembly;
  }
  return { found: false, problem: missingPython(python, bundle, found) };
}

async function interpreterOf(
  name: string,
  args: readonly string[],
  machine: Machine,
): Promise<Interpreter | undefined> {
  const file = await find(name, machine);
  if (file === undefined || (await isOnlyAnOffer(file, machine))) {
    return undefined;
  }
  return parseDescription((await machine.ask(file, [...args, ...describe])) ?? "");
}

/** Whether this is what macOS has instead of a Python: it opens a dialog that offers to install one. */
async function isOnlyAnOffer(file: string, machine: Machine): Promise<boolean> {
  const isStub = machine.platform === "darwin" && file === "/usr/bin/python3";
  return isStub && (await machine.ask("/usr/bin/xcode-select", ["--print-path"])) === undefined;
}

async function find(name: string, machine: Machine): Promise<string | undefined> {
  const program = await machine.find(name);
  if (program.found) {
    return program.file;
  }
  machine.note(`no ${name}: looked for ${program.tried.join(", ") || "nothing, as no folder is open"}`);
  return undefined;
}

function choice(file: string, args: readonly string[], isOwn = false): Choice {
  return { found: true, command: { file, args, isOwn, inWebAssembly: false } };
}
