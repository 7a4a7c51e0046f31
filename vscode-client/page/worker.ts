/**
 * Python in a worker: it has the files that were dropped in memory, and runs commands on them.
 *
 * The page starts it from a blob, so that the page's content security policy holds in here, too.
 */

import type { PyodideAPI } from "pyodide";

import { type Create, keep, startPython, ungzipped } from "../src/starting/wasm/python";
import { program } from "./program";

export interface Asked {
  /** The files to keep first, by their paths below the folder. */
  readonly files?: readonly (readonly [path: string, data: Uint8Array])[];
  readonly folder: string;
  /** The commands to run in the folder. */
  readonly commands: readonly (readonly string[])[];
}

export interface Answered {
  readonly results?: readonly Result[];
  /** Why there is none: Python has ended. */
  readonly failed?: string;
}

export interface Result {
  readonly out: string;
  readonly errors: string;
}

type Run = (folder: string, command: readonly string[]) => { toJs(): [string, string]; destroy(): void };

async function start(base: string): Promise<{ python: PyodideAPI; run: Run }> {
  const packed = fetch(`${base}packages.bin`).then((response) => response.arrayBuffer());
  const packages = packed.then(ungzipped), sums = packed.then((data) => new Uint8Array(data.slice(-8)));
  const memory = fetch(`${base}memory.bin`).then(({ body }) =>
    body === null ? undefined : new Response(body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
  const { loadPyodide } = (await import(`${base}pyodide/pyodide.mjs`)) as typeof import("pyodide");
  const { default: createPyodideModule } = (await import(`${base}pyodide/pyodide.asm.mjs`)) as { default: Create };
  const options = { indexURL: `${base}pyodide/`, createPyodideModule, stdout: () => undefined, stderr: () => undefined };
  const python = await startPython(loadPyodide, options, packages, { sums, read: () => memory }, program);
  return { python, run: python.runPython("run") as Run };
}

const started = start((globalThis as unknown as { readonly base: string }).base);

/** Answers on the port that comes with a message. */
export async function take({ data, ports: [port] }: MessageEvent<Asked>): Promise<void> {
  const failed = (error: unknown): Answered => ({ failed: error instanceof Error ? error.message : String(error) });
  port?.postMessage(await answer(data).catch(failed));
}

async function answer({ files = [], folder, commands }: Asked): Promise<Answered> {
  const { python, run } = await started;
  files.forEach(([path, data]) => { keep(python, `${folder}/${path}`, data); });
  const results = commands.map((command) => {
    const result = run(folder, command);
    const [out, errors] = result.toJs();
    result.destroy();
    return { out, errors };
  });
  return { results };
}
