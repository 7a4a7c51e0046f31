import type { PyodideAPI } from "pyodide";

import type { Told } from "./messages";
import { keep } from "./python";

/** Makes the server, which is part of the memory that is kept: to whom it sends is told later. */
export const program = `
import gc, marshal, sys
sys.path.insert(0, "/packages")
import attr._make
gc.disable()  # until the server is made
methods = marshal.load(open("/packages/methods", "rb"))
attr._make.compile = lambda script, *how: methods.get(script) or compile(script, *how)
import lsprotocol.types
del attr._make.compile, methods
from pyodide.ffi import to_js
from drive_trace.lsp.serving import run_over_messages

receive = run_over_messages(lambda message: send(to_js(message)))

def serve(to):
    global send
    send = to
    return lambda body: receive(body.to_bytes())
`;

/** What runs a worker. */
export interface Port {
  postMessage(message: object): void;
  /** Ends it. */
  close(): void;
}

/** Serves one client with Python once it is there; gives what takes what the worker is told. `mount` lets Python see a folder. */
export function serve(port: Port, started: Promise<PyodideAPI>, mount?: (python: PyodideAPI, folder: string) => void): (told: Told) => void {
  const decoder = new TextDecoder();
  const server = started.then((python) => {
    const begin = python.runPython("serve") as (send: (message: Uint8Array) => void) => (body: Uint8Array) => number | undefined;
    const receive = begin((message) => {
      port.postMessage(JSON.parse(decoder.decode(message.subarray(message.indexOf(123)))) as object); // from its first brace, behind the header
    });
    return { python, receive };
  });
  return ({ folders, files, message }) => {
    server.then(({ python, receive }) => {
      folders?.forEach((folder) => { mount?.(python, folder); });
      files?.forEach(([path, content]) => { keep(python, path, content); });
      if (message !== undefined && receive(new TextEncoder().encode(message)) !== undefined) {
        port.close();
      }
    }).catch((error: unknown) => {
      setTimeout(() => { throw error; }); // so that the extension learns of it
    });
  };
}

/** What Python prints, for the log of the client. */
export function logTo(port: Port): { stdout: (message: string) => void; stderr: (message: string) => void } {
  const log = (message: string): void => { port.postMessage({ jsonrpc: "2.0", method: "window/logMessage", params: { type: 4, message } }); };
  return { stdout: log, stderr: log };
}
