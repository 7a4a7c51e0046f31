/**
 * The server without a Python on the machine: Pyodide in a worker. `node wasm.mjs CACHE serve`
 *
 * It is the same to the client. What it has of the machine are the folders of the workspace, and
 * CACHE, which it may write to.
 */

import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

import { Frames } from "./frames";
import { startPython } from "./python";

/** Milliseconds that the worker has for the last messages. */
const patience = 2_000;

if (isMainThread) {
  startWorker();
} else {
  void work(workerData as string);
}

function startWorker(): void {
  // The stack of a main thread ends at values that are nested 5,000 levels deep.
  const worker = new Worker(new URL(import.meta.url), { workerData: process.argv[2], resourceLimits: { stackSizeMb: 256 } });
  const frames = new Frames((body) => { worker.postMessage(body); });
  process.stdin.on("data", (data: Buffer) => { frames.take(data); });
  // The client has gone: after a word, which the worker may still have to read, or without.
  process.stdin.on("end", () => { setTimeout(() => process.exit(1), patience); });
  worker.on("message", (message: Uint8Array | string | number) => {
    if (typeof message === "number") {
      process.stdout.write("", () => { process.exit(message); });
    } else if (typeof message === "string") {
      process.stderr.write(`${message}\n`);
    } else {
      process.stdout.write(message);
    }
  });
  worker.on("error", (error) => {
    console.error(`drive-trace: ${error.message}`);
    process.exit(2);
  });
}

async function work(cache: string): Promise<void> {
  const port = parentPort;
  if (port === null) {
    return;
  }
  const waiting: Uint8Array[] = [];
  const keep = (body: Uint8Array): void => { waiting.push(body); };
  port.on("message", keep);
  const packages = fileURLToPath(new URL("../server/wasm/", import.meta.url));
  const python = await startPython(packages, cache, (line) => { port.postMessage(line); });
  const receive = python.serve((message) => { port.postMessage(message); });
  const take = (body: Uint8Array): void => {
    foldersIn(body).forEach(python.mount);
    const code = receive(body);
    if (code !== undefined) {
      port.postMessage(code);
    }
  };
  port.off("message", keep);
  waiting.forEach(take);
  port.on("message", take);
}

interface Opening {
  readonly params?: {
    readonly workspaceFolders?: readonly { readonly uri: string }[] | null;
    readonly event?: { readonly added?: readonly { readonly uri: string }[] };
  };
}

/** The folders of the workspace that a message tells of. */
function foldersIn(body: Uint8Array): string[] {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (!/"method":"(initialize|workspace\/didChangeWorkspaceFolders)"/.test(text.subarray(0, 200).toString("latin1"))) {
    return [];
  }
  const { params } = JSON.parse(text.toString("utf8")) as Opening;
  const uris = [...params?.workspaceFolders ?? [], ...params?.event?.added ?? []].map(({ uri }) => uri);
  return uris.filter((uri) => uri.startsWith("file:")).map((uri) => fileURLToPath(uri));
}
