/** Runs tests/wasm/everything_said.py in Pyodide, as the extension does. `node run.mjs PACKAGES OUT` */

import { basename, dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker, isMainThread, workerData } from "node:worker_threads";

if (isMainThread) {
  // Deeply nested values are freed by recursion there: the stack of a main thread ends at 5,000 levels.
  new Worker(new URL(import.meta.url), {
    workerData: process.argv.slice(2).map((each) => resolve(each)), resourceLimits: { stackSizeMb: 256 },
  });
} else {
  const [packages, out] = workerData;
  const root = resolve(import.meta.dirname, "../..");
  const pyodide = pathToFileURL(resolve(root, "vscode-client/node_modules/pyodide/pyodide.mjs")).href;
  const { loadPyodide } = await import(pyodide);
  const began = performance.now();
  const python = await loadPyodide({ stdout: console.log, stderr: console.log });
  for (const [folder, there] of [[root, root], [packages, "/packages"], [dirname(out), "/out"]]) {
    python.FS.mkdirTree(there);
    python.FS.mount(python.FS.filesystems.NODEFS, { root: folder }, there);
  }
  const count = python.runPython(`
import os, sys
os.chdir(${JSON.stringify(root)})
sys.path[:0] = [os.getcwd(), "/packages/own", "/packages/packages"]
from tests.wasm.everything_said import write
write("/out/${basename(out)}")
`);
  // What is absent is said in one sentence, and nothing is written.
  python.runPython(`
from contextlib import redirect_stderr
from io import StringIO
from tests.wasm.everything_said import run
named = "--new-run", "--trace-file", "/tmp/trace.jsonl", "--project-run-id", "shop"
open("/tmp/trace.jsonl", "w").close()
for command, absent in (
    (("gate", *named, "--component", "qa", "--run", "true"), "no program can be started in WebAssembly"),
    (("record", *named, "--qa", "pass"), "WebAssembly has no locks, so use Drive Trace with Python"),
):
    with redirect_stderr(StringIO()) as said:
        code, _ = run(command)
    assert code and absent in said.getvalue(), (command, code, said.getvalue())
    assert not os.path.getsize("/tmp/trace.jsonl")
`);
  console.log(`WebAssembly said ${count} things in ${Math.round(performance.now() - began)} ms`);
}
