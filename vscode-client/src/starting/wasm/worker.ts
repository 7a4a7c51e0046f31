/**
 * The server without a Python on the machine: Pyodide in a worker of the extension.
 *
 * What it has of the machine are the folders of the workspace, and one that it may write to.
 */

import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";

import type { PyodideAPI } from "pyodide";

import { startPython } from "./python";
import { logTo, type Port, serve } from "./serving";

/** Where it finds what wasm.mjs has packed, and a folder that it may write to. */
export interface Places {
  readonly packed: string;
  readonly cache: string;
}

const port: Port = { postMessage: (message) => { parentPort?.postMessage(message); }, close: () => process.exit() };
const mounted = new Set<string>();

async function start({ packed, cache }: Places): Promise<PyodideAPI> {
  const indexURL = path.join(packed, "pyodide");
  const { loadPyodide } = (await import(pathToFileURL(path.join(indexURL, "pyodide.mjs")).href)) as typeof import("pyodide");
  const kept = path.join(cache, "pyodide.memory");
  return startPython(loadPyodide, { indexURL, ...logTo(port) }, await readFile(path.join(packed, "packages.zip")), {
    read: async () => (existsSync(kept) ? readFile(kept) : undefined),
    write: (memory) => {
      mkdirSync(cache, { recursive: true });
      writeFileSync(`${kept}.${process.pid}`, memory);
      renameSync(`${kept}.${process.pid}`, kept); // another window may be reading it
    },
  });
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
