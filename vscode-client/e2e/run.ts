import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import type { Browser } from "playwright-core";

import { launchBrowser } from "./browser";
import { CodeServer } from "./code-server";
import { Editor } from "./editor";
import { offlineCommand } from "./offline";
import { endProcesses, pass } from "./processes";
import { keepPictures } from "./pictures";
import { Sandbox, type Theme, themes } from "./sandbox";
import { type Scenario, scenarios } from "./scenarios";
import { playExamples } from "./examples-story";
import { client, type Machine, prepareMachine, repository, vsix } from "./set-up";
import { step } from "./steps";
import { runScript } from "./script";

/** Bytes of the extension. */
const most = 15_000_000;
const deadline = 4 * 60_000;

const screenshots = path.join(client, "e2e", "screenshots");

/** Without the name of a scenario all are played, each in a process of its own. */
async function main(): Promise<void> {
  const { values: options } = parseArgs({
    options: { pictures: { type: "boolean" }, scenario: { type: "string" }, theme: { type: "string", default: "dark" } },
  });
  const machine = await prepareMachine();
  const theme = themes.find((each) => each === options.theme) ?? "dark";
  if (options.scenario !== undefined) {
    await inSandbox(scenarioNamed(options.scenario), machine, theme);
  } else if (options.pictures === true) {
    await takePictures();
  } else {
    await playAll(machine);
  }
}

async function playAll({ chromium }: Machine): Promise<void> {
  await rm(screenshots, { recursive: true, force: true });
  await mkdir(screenshots, { recursive: true });
  const { size } = await stat(await vsix());
  console.log(`${path.basename(await vsix())}: ${(size / 1e6).toFixed(1)} MB`);
  assert.ok(size <= most, `the extension has more than ${most / 1e6} MB: what does the server import by now?`);
  for (const scenario of scenarios) {
    await playApart(scenario);
  }
  await step("make vscode gives a person a VS Code with the examples", () => playExamples(chromium, screenshots));
  console.log("the client works in a real VS Code");
}

/** The documentation's pictures are screenshots of the stories, in each theme. */
async function takePictures(): Promise<void> {
  for (const theme of themes) {
    for (const scenario of scenarios.filter(({ isPictured }) => isPictured)) {
      await playApart(scenario, theme);
    }
    await keepPictures(screenshots, theme);
  }
}

async function playApart(scenario: Scenario, theme: Theme = "dark"): Promise<void> {
  const command = [process.execPath, ...process.execArgv, fileURLToPath(import.meta.url), "--scenario", scenario.name];
  const offline = scenario.offline ? await offlineCommand() : [];
  const isOnline = scenario.offline && offline.length === 0;
  console.log(`${scenario.name}${offline.length > 0 ? ", without a network" : ""}:`);
  if (isOnline && process.env.DRIVE_TRACE_E2E === "required") {
    throw new Error("this machine does not let us cut off the network, which the scenario is about");
  }
  if (isOnline) {
    console.log("      (this machine does not let us cut off the network)");
  }
  const code = await pass([...offline, ...command, "--theme", theme]);
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

async function inSandbox(scenario: Scenario, machine: Machine, theme: Theme): Promise<void> {
  const sandbox = await Sandbox.create(scenario.programs(repository), scenario.trace, theme);
  const server = new CodeServer(machine.codeServer, sandbox, sandbox.environment);
  let browser: Browser | undefined;
  let editor: Editor | undefined;
  const watch = stopwatch();
  const play = async (): Promise<void> => {
    await scenario.prepare?.(sandbox, repository);
    for (const extension of [await vsix(), ...((await scenario.extensions?.(sandbox)) ?? [])]) {
      await server.installExtension(extension);
    }
    const port = await server.start({ trusting: scenario.trusting });
    browser = await launchBrowser(machine.chromium, sandbox.environment);
    const url = `http://127.0.0.1:${port}/?folder=${encodeURIComponent(scenario.folder ?? sandbox.workspace)}`;
    editor = await Editor.open(browser, url, screenshots);
    await scenario.play(editor, sandbox);
  };
  try {
    await Promise.race([play(), watch.overdue]);
  } catch (error) {
    await editor?.screenshot("failure").catch(() => undefined);
    await editor?.run("Notifications: Show Notifications").catch(() => undefined);
    await editor?.screenshot("failure-notifications").catch(() => undefined);
    await editor?.run("Drive Trace: Show Log").catch(() => undefined);
    await editor?.screenshot("failure-log").catch(() => undefined);
    console.error(await serverLog(sandbox));
    throw error;
  } finally {
    watch.stop();
    await browser?.close().catch(() => undefined);
    await server.stop();
    await expectNoServers(sandbox.mark);
    await sandbox.remove();
  }
}

/** A Drive Trace server has to end with its client, however that one ends. */
async function expectNoServers(mark: string): Promise<void> {
  const survivors = await endProcesses(mark);
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

await runScript(main);
