import { copyFile, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { homedir } from "node:os";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import type { Browser } from "playwright-core";

import { findServer } from "../src/server-command";
import { launchBrowser } from "./browser";
import { CodeServer, codeServerVersion, ensureCodeServer } from "./code-server";
import { Editor } from "./editor";
import { CannotRunHere, ensureChromium } from "./machine";
import { isDriveTrace, kill, run, waitForEnd } from "./processes";
import { Sandbox } from "./sandbox";
import { playStory } from "./story";
import { playViews } from "./views";

const skipped = 3;
const deadline = 4 * 60_000;

const client = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const repository = path.dirname(client);
const screenshots = path.join(client, "e2e", "screenshots");

interface Machine {
  readonly chromium: string;
  readonly codeServer: string;
}

async function main(): Promise<void> {
  const { values: options } = parseArgs({ options: { picture: { type: "string" } } });
  const command = await findCommand();
  const machine = await prepareMachine();
  await rm(screenshots, { recursive: true, force: true });
  await mkdir(screenshots, { recursive: true });
  console.log("packaging the extension");
  await run("npm", ["run", "package"], { cwd: client });
  await inSandbox(command, machine, options.picture);
  if (options.picture !== undefined) {
    await keepWalkthrough();
  }
}

/** The pictures of the walkthrough are screenshots of the story. */
async function keepWalkthrough(): Promise<void> {
  const folder = path.join(client, "media", "walkthrough");
  const pictures = { write: "4-hover-mistake", grade: "11-record", report: "12-live-report", runs: "14-runs" };
  await mkdir(folder, { recursive: true });
  for (const [name, screenshot] of Object.entries(pictures)) {
    await copyFile(path.join(screenshots, `${screenshot}.png`), path.join(folder, `${name}.png`));
  }
}

async function findCommand(): Promise<string> {
  const name = process.env.DRIVE_TRACE_COMMAND ?? path.join(repository, ".venv", "bin", "drive-trace");
  const around = {
    workspaceFolder: process.cwd(),
    home: homedir(),
    searchPath: process.env.PATH ?? "",
  };
  const server = await findServer(name, around);
  if (!server.found) {
    throw new Error(`no server at ${name}: install it there, or name one in DRIVE_TRACE_COMMAND`);
  }
  return server.file;
}

/** The words that start a command, through the tap where its messages are asked for. */
function recorded(command: string): string[] {
  const messages = process.env.DRIVE_TRACE_MESSAGES;
  if (messages === undefined) {
    return [command];
  }
  const python = path.join(repository, ".venv", "bin", "python");
  const tap = path.join(repository, "tests", "support", "tap.py");
  return ["env", `DRIVE_TRACE_MESSAGES=${messages}`, python, "-I", "-S", tap, command];
}

async function prepareMachine(): Promise<Machine> {
  if (process.platform !== "linux") {
    throw new CannotRunHere("the VS Code server is set up for Linux only");
  }
  const cache = path.join(repository, ".cache", `code-server-${codeServerVersion}`);
  return { chromium: await ensureChromium(), codeServer: await ensureCodeServer(cache) };
}

async function inSandbox(command: string, machine: Machine, picture?: string): Promise<void> {
  const sandbox = await Sandbox.create(recorded(command));
  const server = new CodeServer(machine.codeServer, sandbox, sandbox.environment);
  let browser: Browser | undefined;
  let editor: Editor | undefined;
  const watch = stopwatch();
  const play = async (): Promise<void> => {
    await server.installExtension(path.join(client, "drive-trace.vsix"));
    const port = await server.start();
    browser = await launchBrowser(machine.chromium, sandbox.environment);
    const url = `http://127.0.0.1:${port}/?folder=${encodeURIComponent(sandbox.workspace)}`;
    editor = await Editor.open(browser, url, screenshots);
    await playStory(editor, sandbox, picture);
    await playViews(editor, sandbox);
  };
  try {
    await Promise.race([play(), watch.overdue]);
  } catch (error) {
    await editor?.screenshot("failure").catch(() => undefined);
    console.error(await serverLog(sandbox));
    throw error;
  } finally {
    watch.stop();
    await browser?.close().catch(() => undefined);
    await server.stop();
    await endProcesses(sandbox.mark);
    await sandbox.remove();
  }
}

/** A Drive Trace server has to end with its client, however that one ends. */
async function endProcesses(mark: string): Promise<void> {
  const slow = await waitForEnd(mark, 15_000);
  kill(slow.filter((process) => !isDriveTrace(process)));
  const survivors = (await waitForEnd(mark, 5_000)).filter(isDriveTrace);
  kill(survivors);
  if (survivors.length === 0) {
    console.log("  ok  no server is left running");
  } else {
    console.error(`had to be killed: ${survivors.map(({ command }) => command).join("; ")}`);
    process.exitCode = 1;
  }
}

/** Rejects when the time is over, or when this process is asked to end. */
function stopwatch(): { overdue: Promise<never>; stop: () => void } {
  let stop = (): void => undefined;
  const overdue = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => { reject(new Error("the deadline has passed")); }, deadline);
    const interrupted = (signal: string): void => { reject(new Error(`interrupted by ${signal}`)); };
    process.once("SIGINT", interrupted).once("SIGTERM", interrupted);
    stop = () => {
      clearTimeout(timer);
      process.off("SIGINT", interrupted).off("SIGTERM", interrupted);
    };
  });
  return { overdue, stop: () => { stop(); } };
}

async function serverLog(sandbox: Sandbox): Promise<string> {
  const files = await readdir(path.join(sandbox.userData, "logs"), { recursive: true }).catch(() => []);
  const ours = files.filter((file) => file.endsWith("Drive Trace.log"));
  const texts = await Promise.all(
    ours.map((file) => readFile(path.join(sandbox.userData, "logs", file), "utf8")),
  );
  return `--- server log ---\n${texts.join("\n").trim() || "(empty)"}\n---`;
}

// A reader that goes away (`| head`) must not end this process before it has stopped the server.
process.stdout.on("error", () => undefined);

try {
  await main();
  console.log(process.exitCode === 1 ? "failed" : "the client works in a real VS Code");
} catch (error) {
  if (error instanceof CannotRunHere) {
    console.error(`cannot run here: ${error.message}`);
    process.exitCode = skipped;
  } else {
    console.error(error);
    process.exitCode = 1;
  }
}
