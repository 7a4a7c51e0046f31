/** What a worker needs of the folder that wasm.mjs has filled. */
export const parts = [
  "pyodide/pyodide.mjs", "pyodide/pyodide.asm.mjs", "pyodide/pyodide.asm.wasm", "pyodide/python_stdlib.zip", "pyodide/pyodide-lock.json",
  "packages.zip",
] as const;

/** What a worker is told: one of these at a time. */
export interface Told {
  /** The parts that it starts from: the first message. */
  readonly begin?: readonly Uint8Array<ArrayBuffer>[];
  /** Files to keep at these paths; undefined is in one that is gone. */
  readonly files?: readonly (readonly [path: string, data: Uint8Array | undefined])[];
  /** A message of the protocol. */
  readonly message?: string;
}
