import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { afterEach, test } from "node:test";

import { type Create, type Memory, startPython } from "../src/starting/wasm/python";
import { memoryIn } from "../src/starting/wasm/worker";

let did: string[] = [];
let libraries: string[] = [];

afterEach(() => { did = []; });

const python = {
  makeMemorySnapshot: () => {
    did.push("copies its memory");
    return Uint8Array.of(1);
  },
  FS: {
    analyzePath: () => ({ exists: false }),
    mkdirTree: () => undefined,
    writeFile: (path: string, data: Uint8Array) => { did.push(`unpacks ${path}: ${new TextDecoder().decode(data)}`); },
  },
  runPython: (program: string) => { did.push(program.includes("seed") ? "seeds" : program); },
};

/** An archive with files, as wasm.mjs packs them, unpacked from gzip. */
function packed(files: readonly (readonly [name: string, content: string])[]): Uint8Array {
  const archive = Buffer.alloc(10240);
  let at = 0;
  for (const [name, content] of files) {
    archive.write(name, at);
    archive.write(content.length.toString(8).padStart(11, "0"), at + 124);
    archive.write(content, at + 512);
    at += 512 + Math.ceil(content.length / 512) * 512;
  }
  return archive;
}

const packages = packed([["a/module.pyc", "compiled".repeat(64)], ["a/empty", ""], ["b", "last"]]);
const unpacks = [`unpacks /packages/a/module.pyc: ${"compiled".repeat(64)}`, "unpacks /packages/a/empty: ", "unpacks /packages/b: last"];

/** Starts a Python that does as it is told here. */
async function start(memory: Memory, like: object = {}, refused?: Uint8Array): Promise<void> {
  const load = async (given: { _loadSnapshot?: unknown; createPyodideModule: Create }): Promise<object> => {
    await given.createPyodideModule({ locateFile: (name: string) => `beside Pyodide: ${name}` });
    return refused !== undefined && String(given._loadSnapshot) === String(refused) ? Promise.reject(new Error("of another build")) : { ...python, ...like };
  };
  const createPyodideModule = (settings: object): ReturnType<Create> => {
    const { dynamicLibraries, locateFile } = settings as { dynamicLibraries: string[]; locateFile: (name: string) => string };
    libraries = dynamicLibraries.map((each) => `${each} from ${locateFile(each)}`);
    return Promise.resolve({ _emscripten_resize_heap: () => undefined });
  };
  const options = { createPyodideModule, stderr: (line: string) => { did.push(line); } };
  await startPython(load as never, options, Promise.resolve(packages), memory, "runs");
  await new Promise((resolve) => { setImmediate(resolve); });
}

const sums = Uint8Array.of(8, 9);
const nothing = {
  sums: Promise.resolve(sums), read: () => Promise.resolve(undefined), write: (memory: Uint8Array) => { did.push(`writes ${String(memory)}`); },
};

test("the memory of a Python is kept once it has run its program", async () => {
  await start(nothing);
  assert.deepEqual(did, [...unpacks, "runs", "copies its memory", "writes 1,8,9"]);
  assert.deepEqual(libraries, ["/packages/msgspec/_core.so from beside Pyodide: _core.so"], "a compiled module is there before, so that it is part of it");
});

test("Python starts where its memory cannot be copied or written", async () => {
  await start(nothing, { makeMemorySnapshot: () => { throw new Error("too much"); } });
  await start({ ...nothing, write: () => Promise.reject(new Error("disk full")) });
  assert.deepEqual(did, [
    ...unpacks, "runs", "drive-trace: the memory of Python is not kept: Error: too much",
    ...unpacks, "runs", "copies its memory", "drive-trace: the memory of Python is not kept: Error: disk full",
  ]);
});

test("Python starts, and its memory is made again, where the one that was kept is of no use", async () => {
  const [kept, cutOff] = [Uint8Array.of(2, 8, 9), Uint8Array.of(2, 8)];
  await start({ ...nothing, read: () => Promise.resolve(kept) });
  await start({ ...nothing, read: () => Promise.resolve(kept) }, {}, Uint8Array.of(2));
  await start({ ...nothing, read: () => Promise.resolve(cutOff.buffer) });
  await start({ ...nothing, read: () => Promise.reject(new Error("no access")) });
  const anew = [...unpacks, "runs", "copies its memory", "writes 1,8,9"];
  assert.deepEqual(did, [
    ...unpacks, "seeds",
    "drive-trace: the memory of Python is of no use, and is made again: Error: of another build", ...anew, ...anew,
    "drive-trace: the memory of Python cannot be read: Error: no access", ...anew,
  ]);
});

test("a folder has the memory of one version of the packages, and keeps what else is in it", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "drive-trace-"));
  await Promise.all(["compiled", "pyodide.memory", "pyodide-1.0.0.memory", "pyodide-2-0-0.memory.1"].map((name) => writeFile(path.join(folder, name), "")));
  const memory = memoryIn(folder, Uint8Array.of(2, 0, 0));
  assert.equal(await memory.read(), undefined);
  await memory.write?.(Uint8Array.of(3));
  assert.deepEqual(new Uint8Array((await memory.read()) ?? []), Uint8Array.of(3));
  assert.deepEqual((await readdir(folder)).sort(), ["compiled", "pyodide-2-0-0.memory"]);
  await rm(folder, { recursive: true });
});
