import { randomBytes } from "node:crypto";
import { once } from "node:events";
import * as path from "node:path";
import { parseArgs } from "node:util";

import { CodeServer } from "./code-server";
import { endProcesses } from "./processes";
import { Sandbox } from "./sandbox";
import { prepareCodeServer, repository, vsix } from "./set-up";
import { runScript } from "./script";

/** Starts a VS Code with the extension and a copy of the examples, for a person with a browser. */
async function main(): Promise<void> {
  const { values: options } = parseArgs({ options: { port: { type: "string", default: "0" } } });
  const end = ended();
  const folder = await prepareCodeServer();
  const sandbox = await Sandbox.ofFolder(path.join(repository, "examples"));
  const server = new CodeServer(folder, sandbox, { ...process.env, ...sandbox.environment, PATH: process.env.PATH });
  try {
    await server.installExtension(await vsix());
    const token = randomBytes(16).toString("hex");
    const port = await server.start({ trusting: true, token, port: Number(options.port) });
    const query = new URLSearchParams({ tkn: token, folder: sandbox.workspace });
    console.log(`\nVS Code with Drive Trace and a copy of the examples: http://127.0.0.1:${port}/?${query.toString()}`);
    console.log("Ctrl+C ends it and removes the copy.");
    await Promise.race([end, server.end()]);
  } finally {
    await server.stop();
    await endProcesses(sandbox.mark);
    await sandbox.remove();
  }
}

/** Waits to be asked to end. */
async function ended(): Promise<void> {
  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM"), once(process, "SIGHUP")]);
}

await runScript(main);
