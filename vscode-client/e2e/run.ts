import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import type { Browser } from "playwright-core";

import { readBundle } from "../src/starting/bundle";
import { launchBrowser } from "./browser";
import { CodeServer, codeServerVersion, ensureCodeServer } from "./code-server";
import { Editor } from "./editor";
import { CannotRunHere, ensureChromium } from "./machine";
import { offlineCommand } from "./offline";
import { isDriveTrace, kill, pass, waitForEnd } from "./processes";
import { Sandbox } from "./sandbox";
import { type Scenario, scenarios } from "./scenarios";

const skipped = 3;
const deadline = 4 * 60_000;

const client = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const repository = path.dirname(client);
const screenshots = path.join(client, "e2e", "screenshots");

interface Machine {
  readonly chromium: string;
  readonly codeServer: string;
}

/** Without the name of a scenario all are played, each in a process of its own. */
async function main(): Promise<void> {
  const { values: options } = parseArgs({
    options: { picture: { type: "string" }, scenario: { type: "string" } },
  });
  const machine = await prepareMachine();
  if (options.scenario !== undefined) {
    await inSandbox(scenarioNamed(options.scenario), machine, options.picture);
    return;
  }
  await rm(screenshots, { recursive: true, force: true });
  await mkdir(screenshots, { recursive: true });
  const { size } = await stat(await vsix());
  console.log(`${path.basename(await vsix())}: ${(size / 1e6).toFixed(1)} MB`);
  for (const scenario of scenarios) {
    await playApart(scenario, options.picture);
  }
}

async function playApart(scenario: Scenario, picture?: string): Promise<void> {
  const command = [process.execPath, ...process.execArgv, fileURLToPath(import.meta.url), "--scenario", scenario.name];
  const offline = scenario.offline ? await offlineCommand() : [];
  console.log(`${scenario.name}${offline.length > 0 ? ", without a network" : ""}:`);
  if (scenario.offline && offline.length === 0) {
    console.log("      (this machine does not let us cut off the network)");
  }
  const code = await pass([...offline, ...command, ...(picture === undefined ? [] : ["--picture", picture])]);
  if (code !== 0) {
    throw new Error(`${scenario.name}: failed (${code})`);
  }
}

function scenarioNamed(name: string): Scenario {
  const scenario = scenarios.find((each) => each.name === name);
  if (scenario === undefined) {
    throw new Error(`no scenario "${name}": there are ${scenarios.map((each) => each.name).join(", ")}`);
  }
  return scenario;
}

/** The extension as `make vsix` has packaged it. */
async function vsix(): Promise<string> {
  const bundle = await readBundle(path.join(client, "server"));
  const file = path.join(client, `drive-trace-${bundle?.target ?? "none"}.vsix`);
  if (!existsSync(file)) {
    throw new Error("no .vsix to try: make vsix");
  }
  return file;
}

async function prepareMachine(): Promise<Machine> {
  if (process.platform !== "linux") {
    throw new CannotRunHere("the VS Code server is set up for Linux only");
  }
  const cache = path.join(repository, ".cache", `code-server-${codeServerVersion}`);
  return { chromium: await ensureChromium(), codeServer: await ensureCodeServer(cache) };
}

async function inSandbox(scenario: Scenario, machine: Machine, picture?: string): Promise<void> {
  const sandbox = await Sandbox.create(scenario.programs(repository), scenario.trace);
  const server = new CodeServer(machine.codeServer, sandbox, sandbox.environment);
  let browser: Browser | undefined;
  let editor: Editor | undefined;
  const watch = stopwatch();
  const play = async (): Promise<void> => {
    await scenario.prepare?.(sandbox);
    await server.installExtension(await vsix());
    const port = await server.start(scenario.trusting);
    browser = await launchBrowser(machine.chromium, sandbox.environment);
    const url = `http://127.0.0.1:${port}/?folder=${encodeURIComponent(sandbox.workspace)}`;
    editor = await Editor.open(browser, url, screenshots);
    await scenario.play(editor, sandbox, picture);
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
  if (!process.argv.includes("--scenario")) {
    console.log("the client works in a real VS Code");
  }
} catch (error) {
  if (error instanceof CannotRunHere) {
    console.error(`cannot run here: ${error.message}`);
    process.exitCode = skipped;
  } else {
    console.error(error);
    process.exitCode = 1;
  }
}
