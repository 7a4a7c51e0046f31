/** The server in a worker of the browser: Pyodide, with the files that it is sent in memory. */

import type { PyodideAPI } from "pyodide";

import type { Told } from "../wasm/messages";
import { type Create, startPython, ungzipped } from "../wasm/python";
import { logTo, type Port, program, serve } from "../wasm/serving";

const scope = globalThis as unknown as Port & { importScripts: unknown; fetch: unknown; onmessage: (event: MessageEvent<Told>) => void };
let take: ((told: Told) => void) | undefined;

scope.onmessage = ({ data }) => {
  if (data.begin !== undefined) {
    take = serve(scope, start(data.begin));
  } else {
    take?.(data);
  }
};

async function start(parts: NonNullable<Told["begin"]>): Promise<PyodideAPI> {
  // No address is asked: a worker of an extension may reach few.
  scope.fetch = (url: string | URL): Promise<Response> => {
    const name = String(url).replace(/.*\//, "");
    const data = parts.get(name);
    const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    return Promise.resolve(new Response(data ?? null, { status: data === undefined ? 404 : 200, headers: { "Content-Type": type } }));
  };
  scope.importScripts = undefined; // Pyodide refuses to run where there is one, and does not need it
  const module = (name: string): Promise<unknown> =>
    import(URL.createObjectURL(new Blob([parts.get(name) ?? ""], { type: "text/javascript" })));
  const { loadPyodide } = (await module("pyodide.mjs")) as typeof import("pyodide");
  const { default: createPyodideModule } = (await module("pyodide.asm.mjs")) as { default: Create };
  const options = { indexURL: "https://extension.invalid/", createPyodideModule, ...logTo(scope) };
  const packages = parts.get("packages.bin") ?? new Uint8Array();
  const sums = packages.subarray(-8);
  const kept = `https://extension.invalid/${sums.join("-")}.memory`;
  const memories = (): Promise<Cache> => caches.open("drive-trace");
  return startPython(loadPyodide, options, ungzipped(packages), {
    sums: Promise.resolve(sums),
    read: async () => (await (await memories()).match(kept))?.arrayBuffer(),
    write: async (memory) => {
      await caches.delete("drive-trace"); // the one of other packages
      await (await memories()).put(kept, new Response(new Uint8Array(memory)));
    },
  }, program);
}
