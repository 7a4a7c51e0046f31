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
  const note = (error: unknown): void => { options.stderr?.(`drive-trace: the memory of Python is not kept: ${String(error)}`); };
  const kept = await memory.read().catch(note);
  let python = kept && (await load({ ...options, _loadSnapshot: kept }).catch(note));
  if (!python) {
    python = await load({ ...options, _makeSnapshot: true });
    void Promise.resolve(python.makeMemorySnapshot()).then((made) => memory.write?.(made)).catch(note);
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
