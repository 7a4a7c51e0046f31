import type { Component, Grade } from "../protocol";

/** What a gate decides; the intent is for a judge. */
export type Gated = Exclude<Component, "intent">;

/** A run in a file, as the command line knows it. */
export interface Target {
  readonly file: string;
  readonly runId: string;
}

/** The settings that say who judges, with the options that the command line has for them. */
export const judgeOptions = {
  model: "model", api: "api", baseUrl: "base-url", modelCommand: "model-command",
  family: "family", orchestratorFamily: "orchestrator-family", calibration: "calibration",
} as const;

/** Who judges; what is empty is left to the command line. */
export type JudgeSettings = Readonly<Record<keyof typeof judgeOptions, string>>;

/** What was changed: a file with a diff, or commits of a repository. */
export type Change = { readonly diff: string } | { readonly repo: string; readonly range: string };

/** What `judge --output-format json` prints; what begins with `prompt` only in a dry run. */
export interface Judged {
  readonly intent: Grade | null;
  readonly reasons: readonly string[];
  readonly appended: boolean;
  readonly model: string;
  readonly prompt_version: string;
  readonly calibrated: boolean;
  readonly why: string | null;
  readonly prompt?: string | null;
  readonly prompt_tokens?: number | null;
  readonly destination?: string | null;
  readonly left_out?: readonly string[];
  /** Why the judge is not calibrated; empty if it is. */
  readonly calibration?: readonly string[];
}

export function gateArguments({ file, runId }: Target, component: Gated, commands: readonly string[]): string[] {
  const options = { "trace-file": file, "project-run-id": runId, component };
  return ["gate", ...written(options), ...commands.map((each) => `--run=${each}`)];
}

/** Nobody is asked here in a workspace that is not trusted, so what its configuration says of judges counts. */
export function judgeArguments(
  { file, runId }: Target, acceptance: string, change: Change, settings: JudgeSettings,
): string[] {
  const set = Object.entries(judgeOptions).map(([name, option]) => [option, settings[name as keyof JudgeSettings]]);
  const options = { "trace-file": file, "project-run-id": runId, acceptance, ...change, ...Object.fromEntries(set) as Record<string, string> };
  return ["judge", "--output-format=json", "--trust-config", ...written(options)];
}

/** One word each: a value that begins with a dash is no option. */
function written(options: Readonly<Record<string, string>>): string[] {
  return Object.entries(options).filter(([, value]) => value !== "").map(([name, value]) => `--${name}=${value}`);
}

/** What a judge says; nothing where it is not what was promised. */
export function parseJudged(output: string): Judged | undefined {
  try {
    const said = JSON.parse(output) as Partial<Judged> | null;
    const isWhole = [said?.reasons, said?.left_out ?? [], said?.calibration ?? []].every((each) =>
      Array.isArray(each) && each.every((text) => typeof text === "string"));
    return isWhole ? (said as Judged) : undefined;
  } catch {
    return undefined;
  }
}

const ours = "drive-trace: ";

/** Why a command did nothing, as it said itself at its end: what a gate printed comes before. */
export function lastWords(errors: string): string {
  const lines = errors.split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== "").slice(-6);
  const said = lines.filter((line) => line.includes(ours)).map((line) => line.slice(line.lastIndexOf(ours) + ours.length));
  return said.filter((line) => !line.startsWith("nothing was written")).at(-1) ?? said.at(-1) ?? lines.at(-1) ?? "";
}

/** Text of others in a message of VS Code, which would follow links and show icons that it names. */
export function plain(text: string, most = 400): string {
  // eslint-disable-next-line no-control-regex -- these are what must not get into a message
  const harmless = text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g, " ")
    .replace(/\]\(/g, "] (").replace(/\$\(/g, "$ (");
  return harmless.length > most ? `${harmless.slice(0, most - 1)}…` : harmless;
}
