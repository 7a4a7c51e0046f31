import { readFile } from "node:fs/promises";
import * as path from "node:path";

/** The server that the extension carries; `tools/bundle.py` describes it. */
export interface Bundle {
  readonly folder: string;
  readonly version: string;
  readonly target: string;
  /** The machine that the compiled modules are for, where their names do not say it; else empty. */
  readonly machine: string;
  /** Folders of compiled modules, by what ends the names of modules for an interpreter. */
  readonly compiled: Readonly<Record<string, string>>;
}

/** The bundle in a folder, or nothing where none was built. */
export async function readBundle(folder: string): Promise<Bundle | undefined> {
  try {
    const text = await readFile(path.join(folder, "bundle.json"), "utf8");
    return { ...(JSON.parse(text) as Omit<Bundle, "folder">), folder };
  } catch {
    return undefined;
  }
}

/**
 * What makes an interpreter run the bundle, and nothing else that may be installed.
 *
 * Compiled Python goes to `cache`: the extension's own folder is never written to, and without any
 * the server would take half a second longer to start.
 */
export function launchArguments(bundle: Bundle, cache: string): string[] {
  return ["-I", "-S", "-X", `pycache_prefix=${cache}`, path.join(bundle.folder, "launch.py")];
}
