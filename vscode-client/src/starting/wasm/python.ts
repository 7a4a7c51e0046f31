import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import { pathToFileURL } from "node:url";

import type { PyodideAPI } from "pyodide";

import { type Serve, serving } from "./serving";

/** Python in WebAssembly, with drive-trace. */
export interface Python {
  /** Lets it see a folder of the machine, at the same path. */
  readonly mount: (folder: string) => void;
  readonly serve: Serve;
}

interface Disk {
  readonly filesystems: { readonly NODEFS: unknown };
  mkdirTree(folder: string): void;
  mount(kind: unknown, options: { root: string }, folder: string): void;
}

/** Starts it from the folder that wasm.mjs has filled. It may write to `cache`. */
export async function startPython(folder: string, cache: string, log: (line: string) => void): Promise<Python> {
  const python = await loadPython(path.join(folder, "pyodide"), cache, log);
  python.unpackArchive(new Uint8Array(readFileSync(path.join(folder, "packages.zip"))), "zip", { extractDir: "/packages" });
  const disk = python.FS as unknown as Disk;
  const mounted = new Set<string>();
  const mount = (folder: string): void => {
    const there = folder.replaceAll("\\", "/").replace(/^(?=[a-z]:)/i, "/");
    const isInside = [...mounted].some((each) => there === each || there.startsWith(`${each}/`));
    if (!isInside && existsSync(folder)) {
      disk.mkdirTree(there);
      disk.mount(disk.filesystems.NODEFS, { root: folder }, there);
      mounted.add(there);
    }
  };
  return { mount, serve: serving(python) };
}

/** The first start takes two seconds of work to make Python ready: its memory is kept for the next ones. */
async function loadPython(pyodide: string, cache: string, log: (line: string) => void): Promise<PyodideAPI> {
  const { loadPyodide, version } = (await import(pathToFileURL(path.join(pyodide, "pyodide.mjs")).href)) as typeof import("pyodide");
  const options = { indexURL: pyodide, stdout: log, stderr: log };
  const kept = path.join(cache, `pyodide-${version}.memory`);
  if (existsSync(kept)) {
    try {
      return await loadPyodide({ ...options, _loadSnapshot: new Uint8Array(readFileSync(kept)) });
    } catch (error) {
      log(`drive-trace: ${kept} is of no use, and is made again: ${String(error)}`);
    }
  }
  const python = await loadPyodide({ ...options, _makeSnapshot: true });
  try {
    mkdirSync(cache, { recursive: true });
    const fresh = `${kept}.${process.pid}`;
    writeFileSync(fresh, python.makeMemorySnapshot());
    renameSync(fresh, kept); // another window may be reading it
  } catch (error) {
    log(`drive-trace: ${kept} cannot be written: ${String(error)}`);
  }
  return python;
}
