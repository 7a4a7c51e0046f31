import { existsSync } from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";

import { readBundle } from "../src/starting/bundle";
import { codeServerVersion, ensureCodeServer } from "./code-server";
import { CannotRunHere, ensureChromium } from "./machine";

export const client = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
export const repository = path.dirname(client);

/** What a machine has to have for a scenario. */
export interface Machine {
  readonly chromium: string;
  readonly codeServer: string;
}

export async function prepareMachine(): Promise<Machine> {
  const codeServer = await prepareCodeServer();
  return { chromium: await ensureChromium(), codeServer };
}

/** The folder of a VS Code server that can be started. */
export function prepareCodeServer(): Promise<string> {
  if (process.platform !== "linux") {
    throw new CannotRunHere("the VS Code server is set up for Linux only");
  }
  return ensureCodeServer(path.join(repository, ".cache", `code-server-${codeServerVersion}`));
}

/** The extension as `make vsix` has packaged it. */
export async function vsix(): Promise<string> {
  const bundle = await readBundle(path.join(client, "server"));
  const file = path.join(client, `drive-trace-${bundle?.target ?? "none"}.vsix`);
  if (!existsSync(file)) {
    throw new Error("no .vsix to try: make vsix");
  }
  return file;
}
