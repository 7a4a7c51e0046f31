import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";

import { until } from "./until";

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a command to its end; throws with the last lines of its output when it fails. */
export async function run(command: string, args: string[], options: RunOptions = {}): Promise<string> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
  const output = collect(child);
  const code = await new Promise<number | string>((resolve) => {
    child.on("error", () => { resolve("not started"); });
    child.on("close", (status, signal) => { resolve(status ?? signal ?? "unknown"); });
  });
  if (code !== 0) {
    const tail = output().trimEnd().split("\n").slice(-15).join("\n");
    throw new Error(`"${[command, ...args].join(" ")}" failed (${code}):\n${tail}`);
  }
  return output();
}

/** Runs a command that speaks for itself, and gives its exit code; it ends with this process. */
export async function pass(command: string[]): Promise<number> {
  const child = spawn("setpriv", ["--pdeathsig", "TERM", ...command], { stdio: "inherit" });
  const interrupt = (signal: NodeJS.Signals): void => { child.kill(signal); };
  process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
  return new Promise<number>((resolve) => {
    child.on("error", () => { resolve(1); });
    child.on("close", (code) => { resolve(code ?? 1); });
  }).finally(() => process.off("SIGINT", interrupt).off("SIGTERM", interrupt));
}

/** A process that runs until it is stopped. */
export class Background {
  private readonly child: ChildProcess;
  private notStarted = false;
  readonly output: () => string;

  constructor(command: string, args: string[], env: NodeJS.ProcessEnv) {
    this.child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], env });
    this.output = collect(this.child);
    this.child.on("error", () => { this.notStarted = true; });
  }

  get ended(): boolean {
    return this.notStarted || this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Asks it to end, and makes it after `patience` milliseconds. */
  async stop(patience: number): Promise<void> {
    if (this.ended) {
      return;
    }
    const end = this.end();
    this.child.kill("SIGTERM");
    const force = setTimeout(() => this.child.kill("SIGKILL"), patience);
    await end;
    clearTimeout(force);
  }

  /** What Ctrl+C does. */
  interrupt(): void {
    this.child.kill("SIGINT");
  }

  /** Waits until it has ended. */
  async end(): Promise<void> {
    if (!this.ended) {
      await once(this.child, "exit");
    }
  }
}

export interface RunningProcess {
  readonly pid: number;
  readonly command: string;
}

/** The running processes that inherited `mark` (`NAME=value`) in their environment. */
export async function processesWith(mark: string): Promise<RunningProcess[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map(async (pid) => {
    try {
      const environment = await readFile(`/proc/${pid}/environ`, "utf8");
      const command = (await readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ").trim();
      return environment.split("\0").includes(mark) && command !== "" ? [{ pid, command }] : [];
    } catch {
      return []; // ended in the meantime, or somebody else's
    }
  }));
  return found.flat();
}

/** Waits until all of them together have had hardly any work for a second. */
export async function settled(mark: string): Promise<void> {
  let [before, since] = [await ticks(mark), Date.now()];
  await until("little work", async () => {
    const now = await ticks(mark);
    if (now - before > 5) {
      [before, since] = [now, Date.now()];
    }
    return Date.now() - since > 1_000;
  });
}

/** Hundredths of a second that they have worked. */
async function ticks(mark: string): Promise<number> {
  const worked = await Promise.all((await processesWith(mark)).map(async ({ pid }) => {
    const fields = (await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")).split(") ")[1]?.split(" ") ?? [];
    return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  }));
  return worked.reduce((sum, each) => sum + each, 0);
}

/** Whether it is a server, and not the tap beside one, which ends with it. */
export function isDriveTrace({ command }: RunningProcess): boolean {
  return /\/(drive-trace|launch\.py|wasm\.mjs \S+) serve$/.test(command) && !command.includes("tap.py");
}

/** Waits for all of them to end by themselves, and gives those that do not. */
export async function waitForEnd(mark: string, patience: number): Promise<RunningProcess[]> {
  try {
    await until("every process to end", async () => (await processesWith(mark)).length === 0, patience);
    return [];
  } catch {
    return processesWith(mark);
  }
}

/** Waits for all of them to end, and makes them; gives the Drive Trace servers that had to be made. */
export async function endProcesses(mark: string): Promise<RunningProcess[]> {
  const slow = await waitForEnd(mark, 15_000);
  kill(slow.filter((process) => !isDriveTrace(process)));
  const survivors = (await waitForEnd(mark, 5_000)).filter(isDriveTrace);
  kill(survivors);
  return survivors;
}

export function kill(processes: RunningProcess[]): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended in the meantime.
    }
  }
}

function collect(child: ChildProcess): () => string {
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => chunks.push(chunk));
  }
  child.on("error", (error) => chunks.push(error.message));
  return () => chunks.join("");
}
