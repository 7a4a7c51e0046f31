import { readFile } from "node:fs/promises";
import * as path from "node:path";

/** What a trace may say wherever it can say anything; run, it would change the page's title. */
const hostile = [
  `</script><script>document.title = "run"</script>`,
  `"><img src=x onerror="document.title='run'">`,
  `' onload='document.title="run"`,
  `javascript:document.title="run"`,
  `</style><style>*{display:none}`,
  `--><svg onload="document.title='run'">`,
  "http://127.0.0.1:9/fetched.png",
  "\u0000\u0007\u001b[31m",
  "\u202Egnp.exe\u2069",
  "x".repeat(5000),
  "\uD800",
];

type Event = Record<string, unknown>;

/** The fields that take any string. */
const free = new Set([
  "event_id", "project_run_id", "dispatch_id", "round_id", "dispatch_name", "subagent_type", "model",
  "spec_path", "plan_path", "artifact_path", "assumption_summary", "slice_slug", "linear_ref",
  "pr_ref", "input_ref", "project_slug", "brief_content_hash", "recommended_next",
]);

/** The traces that reports are made of, by name. */
export async function reportTraces(repository: string): Promise<Map<string, string>> {
  const example = (name: string): Promise<string> =>
    readFile(path.join(repository, "examples", name, "trace.jsonl"), "utf8");
  const correct = await example("projects/checkout-retry");
  const events = correct.trimEnd().split("\n").map((line) => JSON.parse(line) as Event);
  const ungraded = events.filter(({ event_type }) => event_type !== "correctness-recorded");
  const dispatches = events.filter(({ event_type }) => String(event_type).startsWith("dispatch-"));
  return new Map([
    ["correct", correct],
    ["incorrect", await example("projects/search-index")],
    ["not-computable", written(ungraded)],
    ["rejected", await example("projects/typical-mistakes")],
    ["empty", ""],
    ["hostile", hostile.map((text) => written(events.map((event) => saying(event, text)))).join("")],
    ["clusters", repeated(dispatches, 30, later)],
    ["long", repeated(events, 10_000 / events.length, later)],
    ["runs", repeated(events, 5, again)],
    ["big", repeated(events, 180, again)],
  ]);
}

/** Runs of one grade each, every second of which is INCORRECT; the tokens of one are known. */
export function manyRuns(count: number): string {
  const common = { schema_version: "1", orchestrator_agent_id: "db5b5fab-8f4d-4e27-9da1-494c73cf256d", ts: "2026-05-28T14:00:00.000Z" };
  const tokens = {
    ...common, event_type: "tokens-recorded", event_id: "0d6f1d6f-6f1d-4c3b-8a57-6f1d6f1d6f1d", project_run_id: "run-6",
    input_tokens: 1000, output_tokens: 100, cache_read_tokens: null, cache_write_tokens: null,
  };
  return written([tokens, ...Array.from({ length: count }, (_, number) => ({
    ...common, event_type: "correctness-recorded",
    event_id: `6f1d${String(number).padStart(4, "0")}-6f1d-4c3b-8a57-6f1d6f1d6f1d`, project_run_id: `run-${number}`,
    mechanical: "pass", qa: number % 2 === 0 ? "pass" : "fail", intent: "pass",
  }))]);
}

function saying(event: Event, text: string): Event {
  const entries = Object.entries(event).map(([name, value]) => [name, free.has(name) ? text : value]);
  return Object.fromEntries(entries) as Event;
}

function repeated(events: Event[], times: number, change: (event: Event, time: number) => Event): string {
  return Array.from({ length: Math.ceil(times) }, (_, time) => written(events.map((event) => change(event, time)))).join("");
}

function again(event: Event, run: number): Event {
  const copy: Event = { ...event, project_run_id: `run-${run}` };
  if (typeof copy.dispatch_id === "string") {
    copy.dispatch_id = `${copy.dispatch_id}-${run}`;
  }
  return copy;
}

/** One run that goes on and on, with other dispatches and rounds each day. */
function later(event: Event, part: number): Event {
  const copy: Event = { ...event, event_id: `${part}-${String(event.event_id)}` };
  for (const name of ["dispatch_id", "round_id"]) {
    if (typeof copy[name] === "string") {
      copy[name] = `${copy[name]}-${part}`;
    }
  }
  copy.ts = new Date(Date.parse(String(event.ts)) + part * 86_400_000).toISOString();
  return copy;
}

function written(events: Event[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join("");
}
