import { createHash } from "node:crypto";

/** The token that the story is about: `qa` may be `pass`, `fail` or null. */
export const malformed = "passed";
export const repaired = "pass";

const minute = 60_000;
const started = Date.parse("2026-05-28T14:00:00.000Z");
const dispatch = id(100);
const round = id(101);

/** A graded run of one slice and one dispatch, whose correctness line has one malformed value. */
export function demoTrace(): string {
  const brief = { dispatch_id: dispatch, round_id: round };
  const steps: Step[] = [
    [0, "project-started", { project_slug: "demo", origin: "new-project", has_linear_project: false }],
    [2, "spec-authored", {
      spec_path: "projects/demo/spec.md", spec_kind: "project", byte_length: 4180,
      edge_cases_count: null, open_questions_count: 0, dod_items_count: 5,
    }],
    [4, "plan-authored", {
      plan_path: "projects/demo/plan.md", plan_kind: "project", byte_length: 2210, dispatch_count: null,
      slice_count: 1, dispatch_size_distribution: null, open_items_count: 0,
    }],
    [5, "slice-started", { slice_slug: "parse-input", slice_index: 1, linear_ref: null }],
    [6, "dispatch-start", {
      dispatch_id: dispatch, dispatch_name: "implement-parser", subagent_type: "implementer",
      model: "composer-2", parent_dispatch_id: null,
    }],
    [6, "round-start", { ...brief, round_number: 1 }],
    [6, "brief-issued", {
      ...brief, brief_byte_length: 1840, brief_content_hash: hash("brief"), brief_disposition: "initial",
    }],
    [25, "round-end", { ...brief, verdict: "satisfied", findings_filed: 0, wall_clock_ms: 19 * minute }],
    [25, "dispatch-end", { dispatch_id: dispatch, result: "completed", wall_clock_ms: 19 * minute }],
    [27, "slice-completed", { slice_slug: "parse-input", result: "merged", pr_ref: "#12" }],
    [28, "project-closed", { dod_status: "all-met", slices_completed: 1, final_retro_done: true }],
    [30, "tokens-recorded", {
      input_tokens: 1900000, output_tokens: 42000, cache_read_tokens: 1450000, cache_write_tokens: 96000,
    }],
    [31, "correctness-recorded", { mechanical: "pass", qa: malformed, intent: "pass" }],
  ];
  return steps.map((step, index) => `${line(step, index)}\n`).join("");
}

/** The same with the mistake mended: the run is CORRECT. */
export function repairedTrace(): string {
  return demoTrace().replace(`"${malformed}"`, `"${repaired}"`);
}

/** The same before anybody has graded it. */
export function ungradedTrace(): string {
  return demoTrace().split("\n").filter((line) => !line.includes("correctness-recorded")).join("\n");
}

/** The demo's last two lines, which an editor shows beside the explorer: the mistake is among them. */
export function shortTrace(): string {
  return demoTrace().split("\n").slice(-3).join("\n");
}

/** A run that nobody has graded. */
export function otherTrace(run = "other"): string {
  const payload = { project_slug: run, origin: "promote", has_linear_project: false };
  return `${line([0, "project-started", payload], 200, run)}\n`;
}

/** An event as an agent appends it, behind all others of the demo. */
export function appended(minutes: number, type: string, payload: object): string {
  return `${line([minutes, type, payload], 300 + minutes)}\n`;
}

/** The same, recorded now: a grade with an earlier time than one above it is in doubt. */
export function appendedNow(minutes: number, type: string, payload: object): string {
  return appended(minutes, type, payload).replace(/"ts":"[^"]*"/, `"ts":"${new Date().toISOString()}"`);
}

/** A run of one dispatch and 5,000 rounds: 10,001 events. */
export function longTrace(): string {
  const within = { dispatch_id: dispatch };
  const start = { ...within, dispatch_name: "long", subagent_type: "implementer", model: null, parent_dispatch_id: null };
  const steps: Step[] = [[0, "dispatch-start", start]];
  for (let number = 1; number <= 5000; number += 1) {
    const round = { ...within, round_id: `round-${number}` };
    steps.push([number, "round-start", { ...round, round_number: number }]);
    const end = { ...round, verdict: "another-round-needed", findings_filed: 1, wall_clock_ms: minute };
    steps.push([number + 1, "round-end", end]);
  }
  return steps.map((step, index) => `${line(step, index, "orphan-long")}\n`).join("");
}

type Step = readonly [minutes: number, type: string, payload: object];

function line([minutes, type, payload]: Step, index: number, run = "demo"): string {
  return JSON.stringify({
    event_id: id(index + 1),
    event_type: type,
    schema_version: "1",
    ts: new Date(started + minutes * minute).toISOString(),
    project_run_id: run,
    orchestrator_agent_id: null,
    ...payload,
  });
}

/** A version 4 UUID that looks like any other and is the same in every run. */
function id(number: number): string {
  const digits = hash(String(number));
  return [
    digits.slice(0, 8), digits.slice(8, 12), `4${digits.slice(13, 16)}`,
    `a${digits.slice(17, 20)}`, digits.slice(20, 32),
  ].join("-");
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
