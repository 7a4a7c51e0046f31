import { spawn } from "node:child_process";

/** How a program ended. */
export interface Ended {
  /** Its exit code; null where it was ended. */
  readonly code: number | null;
  readonly output: string;
  /** The end of what it wrote to its standard error. */
  readonly errors: string;
}

/** Milliseconds that a program has to end what it has started, once it is asked to end. */
const patience = 10_000;
/** Milliseconds to wait for output that something else may hold open. */
const drain = 1_000;
const mostOutput = 64 << 20;
const mostErrors = 64 << 10;

/**
 * Runs a program to its end, or until the signal ends it, with all of its process group.
 *
 * `take` gets its standard error as it comes. Rejects where the program cannot be started.
 */
export function runToEnd(
  file: string, args: readonly string[], cwd: string, take: (text: string) => void, signal: AbortSignal,
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const isGroup = process.platform !== "win32";
    const env = { ...process.env, ...environment };
    const child = spawn(file, args, { cwd, env, detached: isGroup, windowsHide: true, stdio: ["ignore", "pipe", "pipe"] });
    let [output, errors] = ["", ""];
    let timer: NodeJS.Timeout | undefined;
    const send = (name: NodeJS.Signals): void => {
      try {
        if (isGroup && child.pid !== undefined) {
          process.kill(-child.pid, name);
        } else {
          child.kill(name);
        }
      } catch {
        // It has ended in the meantime.
      }
    };
    const end = (): void => {
      if (timer === undefined) {
        send("SIGTERM");
        timer = setTimeout(() => { send("SIGKILL"); }, patience);
      }
    };
    const done = (code: number | null): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve({ code, output, errors });
    };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (output.length <= mostOutput) {
        output += text;
      }
      if (output.length > mostOutput) {
        end();
      }
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      errors = (errors + text).slice(-mostErrors);
      take(text);
    });
    child.on("error", reject);
    child.on("close", done);
    child.on("exit", (code) => { setTimeout(done, drain, code).unref(); });
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) {
      end();
    }
  });
}
