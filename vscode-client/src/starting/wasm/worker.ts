/**
 * The server without a Python on the machine: Pyodide in a worker of the extension.
 *
 * What it has of the machine are the folders of the workspace, and one that it may write to.
 */

import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { parentPort, workerData } from "node:worker_threads";
import { gunzip } from "node:zlib";

import type { PyodideAPI } from "pyodide";

import { type Create, type Memory, startPython } from "./python";
import { logTo, type Port, program, serve } from "./serving";

/** Where it finds what wasm.mjs has packed, and a folder that it may write to. */
export interface Places {
  readonly packed: string;
  readonly cache: string;
}

const port: Port = { postMessage: (message) => { parentPort?.postMessage(message); }, close: () => process.exit() };
const mounted = new Set<string>();

async function start({ packed, cache }: Places): Promise<PyodideAPI> {
  const indexURL = path.join(packed, "pyodide");
  const module = (name: string): Promise<unknown> => import(pathToFileURL(path.join(indexURL, name)).href);
  const { loadPyodide } = (await module("pyodide.mjs")) as typeof import("pyodide");
  const { default: createPyodideModule } = (await module("pyodide.asm.mjs")) as { default: Create };
  const packages = await readFile(path.join(packed, "packages.bin"));
  const options = { indexURL, createPyodideModule, ...logTo(port) };
  return startPython(loadPyodide, options, promisify(gunzip)(packages), memoryIn(cache, packages.subarray(-8)), program);
}

/** Memory in a file of a folder: the only one there, as it has a server of these packages, which the sums at the end of their archive tell. */
export function memoryIn(folder: string, sums: Uint8Array): Memory {
  const name = `pyodide-${sums.join("-")}.memory`;
  const kept = path.join(folder, name);
  return {
    sums: Promise.resolve(sums),
    read: async () => (existsSync(kept) ? readFile(kept) : undefined),
    write: async (memory) => {
      mkdirSync(folder, { recursive: true });
      await writeFile(`${kept}.${process.pid}`, memory);
      await rename(`${kept}.${process.pid}`, kept); // another window may be reading it
      // Of other packages, and what was not written to its end.
      const old = readdirSync(folder).filter((each) => /^pyodide.*\.memory/.test(each) && each !== name);
      old.forEach((each) => { rmSync(path.join(folder, each)); });
    },
  };
}

/** Lets Python see a folder of the machine, at the same path. */
function mount(python: PyodideAPI, root: string): void {
  const there = root.replaceAll("\\", "/").replace(/^(?=[a-z]:)/i, "/");
  const isInside = [...mounted].some((each) => there === each || there.startsWith(`${each}/`));
  if (!isInside && existsSync(root)) {
    python.mountNodeFS(there, root);
    mounted.add(there);
  }
}

parentPort?.on("message", serve(port, start(workerData as Places), mount));
