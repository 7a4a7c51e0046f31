import type { PyodideAPI } from "pyodide";

/** The memory of a Python that is ready: it takes two seconds of work to make one. */
export interface Memory {
  read(): Promise<Uint8Array | ArrayBuffer | undefined>;
  write?(memory: Uint8Array): unknown;
}

type Load = typeof import("pyodide").loadPyodide;

/** Starts Python with the packages that wasm.mjs has packed, from the memory that is kept, or else keeps its own. */
export async function startPython(
  load: Load, options: NonNullable<Parameters<Load>[0]>, packages: Uint8Array | ArrayBuffer, memory: Memory,
): Promise<PyodideAPI> {
  const note = (what: string) => (error: unknown): void => { options.stderr?.(`drive-trace: the memory of Python ${what}: ${String(error)}`); };
  const kept = await memory.read().catch(note("cannot be read"));
  let python = kept && (await load({ ...options, _loadSnapshot: kept }).catch(note("is of no use, and is made again")));
  if (!python) {
    const made = python = await load({ ...options, _makeSnapshot: true });
    const write = async (): Promise<void> => { await memory.write?.(made.makeMemorySnapshot()); }; // at once: packages are no part of it
    void write().catch(note("is not kept"));
  }
  python.unpackArchive(new Uint8Array(packages), "zip", { extractDir: "/packages" });
  return python;
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
