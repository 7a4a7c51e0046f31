import type { Choice } from "../choice";

/** The server in a worker of the extension. */
export const inWebAssembly: Choice = { found: true, command: { file: "Pyodide", args: [], isOwn: true, inWebAssembly: true } };
