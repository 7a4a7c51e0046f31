import type { PyodideAPI } from "pyodide";

const program = `
import sys
sys.path.insert(0, "/packages")
from pyodide.ffi import to_js
from drive_trace.lsp.serving import run_over_messages

def serve(send):
    receive = run_over_messages(lambda message: send(to_js(message)))
    return lambda body: receive(body.to_bytes())

serve
`;

/** Serves one client. Gives what takes a message, and gives the exit code once the client has left. */
export type Serve = (send: (message: Uint8Array) => void) => (body: Uint8Array) => number | undefined;

/** What serves, in a Python that has drive-trace in /packages. */
export function serving(python: PyodideAPI): Serve {
  return python.runPython(program) as Serve;
}
