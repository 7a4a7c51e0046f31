import type { Bundle } from "./bundle";

/** A Python, as it describes itself. */
export interface Interpreter {
  readonly file: string;
  readonly version: string;
  /** What ends the names of the compiled modules made for it. */
  readonly suffix: string;
  readonly machine: string;
}

/** Makes an interpreter describe itself. Shims and launchers name the Python behind them. */
export const describe = [
  "-I", "-S", "-c",
  "import os, sys, importlib.machinery as m; " +
  "print('python', sys.executable, '%d.%d.%d' % sys.version_info[:3], " +
  "(m.EXTENSION_SUFFIXES or ['none'])[0], os.uname().machine if hasattr(os, 'uname') else '', sep='\\t')",
] as const;

export function parseDescription(output: string): Interpreter | undefined {
  const words = output.split(/\r?\n/).map((line) => line.split("\t")).find(([first]) => first === "python");
  const [, file, version, suffix, machine] = words ?? [];
  if (file === undefined || version === undefined || suffix === undefined || machine === undefined) {
    return undefined;
  }
  return { file, version, suffix, machine };
}

/** Whether the bundle has compiled modules that this interpreter can load. */
export function fits({ suffix, machine }: Interpreter, bundle: Bundle): boolean {
  return suffix in bundle.compiled && ["", machine].includes(bundle.machine);
}

/**
 * Commands that may be a Python, in the order in which they are tried.
 *
 * On a Mac `python3` comes last: without developer tools it is no Python, but asks to install them.
 */
export function usualCommands(bundle: Bundle, platform: NodeJS.Platform): string[][] {
  const minors = Object.values(bundle.compiled).map((folder) => Number(folder.replace("cp3", "")));
  const named = minors.sort((one, other) => other - one).map((minor) => [`python3.${minor}`]);
  const launcher = platform === "win32" ? [["py", "-3"]] : [];
  const plain = [["python3"], ["python"]];
  return platform === "darwin" ? [...named, ...plain] : [...plain, ...launcher, ...named];
}

/** Whether a program is named as it stands on the `PATH`, and not by where it is. */
export function isBareCommand(name: string): boolean {
  return !/[\\/]/.test(name);
}
