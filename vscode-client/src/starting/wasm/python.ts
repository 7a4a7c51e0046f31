import type { PyodideAPI } from "pyodide";

/** The memory of a Python that has imported what the server runs on: it takes seconds of work to make one. */
export interface Memory {
  read(): Promise<Uint8Array | ArrayBuffer | undefined>;
  write?(memory: Uint8Array): unknown;
}

type Load = typeof import("pyodide").loadPyodide;

/** Imports for a memory: modules in Python alone, as Pyodide cannot restore compiled ones, and nothing that looks for these. */
const imports = `
import sys; sys.path.insert(0, "/packages")
import decimal, hashlib, pkgutil, platform, pygls.lsp.server, shlex, tomllib, typing_extensions, urllib.parse, uuid
sys.path.remove("/packages")
`;

/** Makes Pyodide's module. Who keeps a memory says how: a memory that has imported is larger than that of a new module. */
export type Create = (settings: object) => Promise<{ _emscripten_resize_heap(size: number): void }>;

type Options = Omit<NonNullable<Parameters<Load>[0]>, "createPyodideModule"> & { createPyodideModule?: Create };

/** Starts Python with the packages that wasm.mjs has packed, from the memory that is kept, or else keeps its own. */
export async function startPython(
  load: Load, { createPyodideModule: create, ...options }: Options, packages: BlobPart, memory: Memory,
): Promise<PyodideAPI> {
  const note = (what: string) => (error: unknown): void => { options.stderr?.(`drive-trace: the memory of Python ${what}: ${String(error)}`); };
  const kept = await memory.read().catch(note("cannot be read"));
  const createWithRoom = create && (async (settings: object): ReturnType<Create> => {
    const module = await create(settings);
    module._emscripten_resize_heap(kept?.byteLength ?? 0);
    return module;
  });
  const start = (how: object): Promise<PyodideAPI> => load({ ...options, ...how, createPyodideModule: createWithRoom as never });
  const archive = ungzipped(packages);
  const restored = kept && (await start({ _loadSnapshot: kept }).catch(note("is of no use, and is made again")));
  const python = restored ?? (await start({ _makeSnapshot: true }));
  unpack(python, await archive);
  if (restored) {
    python.runPython("import random; random.seed()"); // or all that have this memory draw the same numbers
  } else if (memory.write) {
    const write = async (): Promise<void> => {
      python.runPython(imports);
      await memory.write?.(python.makeMemorySnapshot()); // at once: files are no part of it
    };
    void write().catch(note("is not kept"));
  }
  return python;
}

async function ungzipped(data: BlobPart): Promise<Uint8Array> {
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Unpacks a tar archive of files. Python's own module takes a second for it. */
function unpack(python: PyodideAPI, archive: Uint8Array): void {
  const decoder = new TextDecoder();
  const field = (start: number, length: number): string => decoder.decode(archive.subarray(start, start + length)).replace(/\0.*/s, "");
  for (let at = 0; field(at, 1) !== "";) {
    const start = at + 512, end = start + parseInt(field(at + 124, 12), 8);
    keep(python, `/packages/${field(at, 100)}`, archive.subarray(start, end));
    at = start + Math.ceil((end - start) / 512) * 512;
  }
}

interface Disk {
  mkdirTree(folder: string): void;
  unlink(path: string): void;
  writeFile(path: string, data: Uint8Array): void;
  analyzePath(path: string): { exists: boolean };
}

/** Writes a file to the disk of Python, which is in memory; undefined is in one that is gone. */
export function keep({ FS }: PyodideAPI, path: string, content: Uint8Array | undefined): void {
  const disk = FS as unknown as Disk;
  if (disk.analyzePath(path).exists) {
    disk.unlink(path);
  }
  if (content !== undefined) {
    disk.mkdirTree(path.replace(/\/[^/]*$/, ""));
    disk.writeFile(path, content);
  }
}
