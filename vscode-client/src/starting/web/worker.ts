/** The server in a worker of the browser: Pyodide, with the files that it is sent in memory. */

import { serving } from "../wasm/serving";
import { parts, type Told } from "./messages";

interface Disk {
  mkdirTree(folder: string): void;
  unlink(path: string): void;
  writeFile(path: string, data: Uint8Array): void;
  analyzePath(path: string): { exists: boolean };
}

interface Server {
  readonly disk: Disk;
  readonly receive: (body: Uint8Array) => number | undefined;
}

const scope = globalThis as unknown as {
  importScripts: unknown;
  fetch: unknown;
  onmessage: (event: MessageEvent<Told>) => void;
  postMessage(message: object): void;
  close(): void;
};
let server: Server | undefined;
const waiting: Told[] = [];

scope.onmessage = ({ data }) => {
  if (data.begin !== undefined) {
    void start(data.begin).then((started) => {
      server = started;
      waiting.splice(0).forEach((each) => { take(each, started); }); // what they hold of files is kept once
    }).catch((error: unknown) => {
      setTimeout(() => { throw error; }); // so that the extension learns of it
    });
  } else if (server === undefined) {
    waiting.push(data);
  } else {
    take(data, server);
  }
};

async function start(given: readonly Uint8Array<ArrayBuffer>[]): Promise<Server> {
  const found = new Map(parts.map((name, index) => [name.replace(/.*\//, ""), given[index]]));
  // No address is asked: a worker of an extension may reach few.
  scope.fetch = (url: string | URL): Promise<Response> => {
    const name = String(url).replace(/.*\//, "");
    const data = found.get(name);
    const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    return Promise.resolve(new Response(data ?? null, { status: data === undefined ? 404 : 200, headers: { "Content-Type": type } }));
  };
  scope.importScripts = undefined; // Pyodide refuses to run where there is one, and does not need it
  const module = (name: string): Promise<unknown> =>
    import(URL.createObjectURL(new Blob([found.get(name) ?? ""], { type: "text/javascript" })));
  const { loadPyodide } = (await module("pyodide.mjs")) as typeof import("pyodide");
  const { default: createPyodideModule } = (await module("pyodide.asm.mjs")) as { default: never };
  const log = (message: string): void => { scope.postMessage({ jsonrpc: "2.0", method: "window/logMessage", params: { type: 4, message } }); };
  const options = { indexURL: "https://extension.invalid/", createPyodideModule, stdout: log, stderr: log };
  const python = await loadPyodide(options);
  python.unpackArchive(found.get("packages.zip") ?? new Uint8Array(), "zip", { extractDir: "/packages" });
  const decoder = new TextDecoder();
  const receive = serving(python)((message) => {
    scope.postMessage(JSON.parse(decoder.decode(message.subarray(message.indexOf(123)))) as object); // from its first brace, behind the header
  });
  return { disk: python.FS as unknown as Disk, receive };
}

function take(data: Told, { disk, receive }: Server): void {
  data.files?.forEach(([path, content]) => { keep(disk, path, content); });
  if (data.message !== undefined && receive(new TextEncoder().encode(data.message)) !== undefined) {
    scope.close();
  }
}

/** Nobody else writes there: the server appends to no file where there are no locks. */
function keep(disk: Disk, path: string, content: Uint8Array | undefined): void {
  if (disk.analyzePath(path).exists) {
    disk.unlink(path);
  }
  if (content !== undefined) {
    disk.mkdirTree(path.replace(/\/[^/]*$/, ""));
    disk.writeFile(path, content);
  }
}
