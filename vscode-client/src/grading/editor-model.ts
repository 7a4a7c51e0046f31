import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import * as path from "node:path";

/** A way for a command of drive-trace to ask a model that only this process can reach. */
export interface Bridge {
  /** A command for a shell: it reads a prompt, and writes the reply. */
  readonly command: string;
  readonly environment: Readonly<Record<string, string>>;
  close(): void;
}

const place = "DRIVE_TRACE_MODEL_PIPE";
const script = `const socket = require('net').connect({path: process.env.${place}, allowHalfOpen: true}); process.stdin.pipe(socket).pipe(process.stdout); socket.on('error', () => process.exit(1)).on('close', () => process.stdin.destroy())`;

/** Opens one; `ask` is given each prompt. A reply that fails ends the command without one. */
export async function bridgeTo(ask: (prompt: string) => Promise<string>, told: (error: unknown) => void): Promise<Bridge> {
  const name = `drive-trace-${randomBytes(16).toString("hex")}`;
  const pipe = process.platform === "win32" ? `\\\\.\\pipe\\${name}` : path.join(tmpdir(), name);
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let prompt = "";
    socket.setEncoding("utf8").on("error", () => undefined).on("data", (text: string) => { prompt += text; }).on("end", () => {
      ask(prompt).then((reply) => socket.end(reply), (error: unknown) => {
        told(error);
        socket.destroy();
      });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(pipe, resolve);
  });
  return {
    command: `"${process.execPath}" -e "${script}"`,
    environment: { [place]: pipe, ELECTRON_RUN_AS_NODE: "1" },
    close: () => { server.close(); },
  };
}
