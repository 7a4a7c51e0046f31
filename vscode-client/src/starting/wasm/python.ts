import type { PyodideAPI } from "pyodide";

/** The memory of a Python that has run a program: it takes seconds of work to make one. */
export interface Memory {
  /** The sums of the packages, which end what is kept: without them it was cut off, or has other packages. */
  readonly sums: Promise<Uint8Array>;
  read(): Promise<Uint8Array | ArrayBuffer | undefined>;
  write?(memory: Uint8Array): unknown;
}

type Load = typeof import("pyodide").loadPyodide;

/** The compiled module of the packages. It is loaded before Python starts, so always to the same place, or no memory could have it. */
const compiled = "/packages/msgspec/_core.so";

/** Makes Pyodide's module. */
export type Create = (settings: object) => Promise<{ _emscripten_resize_heap(size: number): void }>;

type Options = Omit<NonNullable<Parameters<Load>[0]>, "createPyodideModule"> & { createPyodideModule: Create };

/**
 * Starts Python with the packages that wasm.mjs has packed, unpacked from gzip, and runs a program in it.
 *
 * It starts from the memory that is kept, which has run the program, or else keeps its own.
 */
export async function startPython(
  load: Load, { createPyodideModule: create, ...options }: Options, packages: Promise<Uint8Array>, memory: Memory, program: string,
): Promise<PyodideAPI> {
  const note = (what: string) => (error: unknown): void => { options.stderr?.(`drive-trace: the memory of Python ${what}: ${String(error)}`); };
  const sums = await memory.sums;
  const kept = before(sums, (await memory.read().catch(note("cannot be read"))) ?? undefined);
  const createWithRoom = async (settings: { locateFile?: (name: string) => string }): ReturnType<Create> => {
    const { locateFile: locate } = settings;
    const module = await create(Object.assign(settings, {
      dynamicLibraries: [compiled], locateFile: (name: string) => locate?.(name.replace(/.*\//, "")),
    }));
    module._emscripten_resize_heap(kept?.byteLength ?? 0); // a memory that has run a program is larger than that of a new module
    return module;
  };
  const start = (how: object): Promise<PyodideAPI> => load({ ...options, ...how, createPyodideModule: createWithRoom as never });
  const restored = kept && (await start({ _loadSnapshot: kept }).catch(note("is of no use, and is made again")));
  const python = restored ?? (await start({ _makeSnapshot: true }));
  unpack(python, await packages);
  if (restored) {
    python.runPython("import random; random.seed()"); // or all that have this memory draw the same numbers
  } else {
    python.runPython(program);
    const write = async (): Promise<void> => {
      const made = python.makeMemorySnapshot(), ended = new Uint8Array(made.length + sums.length);
      ended.set(made);
      ended.set(sums, made.length);
      await memory.write?.(ended);
    };
    void write().catch(note("is not kept"));
  }
  return python;
}

/** What stands before some sums; nothing if they are not there. */
function before(sums: Uint8Array, given: Uint8Array | ArrayBuffer | undefined): Uint8Array | undefined {
  const data = given instanceof ArrayBuffer ? new Uint8Array(given) : given;
  const at = (data?.length ?? 0) - sums.length;
  return at > 0 && sums.every((byte, index) => data?.[at + index] === byte) ? data?.subarray(0, at) : undefined;
}

/** Unpacks from gzip in a browser. */
export async function ungzipped(data: BlobPart): Promise<Uint8Array> {
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Unpacks a tar archive of files. Python's own module takes a second for it. */
function unpack(python: PyodideAPI, archive: Uint8Array): void {
  const decoder = new TextDecoder();
  const field = (start: number, length: number): string => decoder.decode(archive.subarray(start, start + length)).replace(/\0.*/s, "");
  const disk = diskOf(python);
  let folder = "";
  for (let at = 0; field(at, 1) !== "";) {
    const start = at + 512, end = start + parseInt(field(at + 124, 12), 8);
    const path = `/packages/${field(at, 100)}`, inside = path.replace(/[^/]*$/, "");
    if (inside !== folder) {
      disk.mkdirTree(folder = inside);
    }
    disk.writeFile(path, archive.subarray(start, end), { canOwn: true });
    at = start + Math.ceil((end - start) / 512) * 512;
  }
}

interface Disk {
  mkdirTree(folder: string): void;
  unlink(path: string): void;
  writeFile(path: string, data: Uint8Array, how?: { canOwn: boolean }): void;
  analyzePath(path: string): { exists: boolean };
}

const diskOf = (python: PyodideAPI): Disk => python.FS as Disk;

/** Writes a file to the disk of Python, which is in memory; undefined is in one that is gone. */
export function keep(python: PyodideAPI, path: string, content: Uint8Array | undefined): void {
  const disk = diskOf(python);
  if (disk.analyzePath(path).exists) {
    disk.unlink(path);
  }
  if (content !== undefined) {
    disk.mkdirTree(path.replace(/\/[^/]*$/, ""));
    disk.writeFile(path, content);
  }
}
