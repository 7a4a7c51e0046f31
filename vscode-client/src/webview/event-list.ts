import type { EventRow } from "../protocol";

/** What a person wants to see of a trace. */
export interface Filter {
  readonly text: string;
  readonly event: string;
  readonly dispatch: string;
  readonly outcome: string;
  readonly withProblems: boolean;
  readonly grouped: boolean;
  /** Those that took the longest first, by the clock or as they claim. */
  readonly byTime: boolean;
}

/** A line of the list: an event, or what stands over those of a slice or dispatch. */
export type Item = { readonly row: EventRow } | Heading;

export interface Heading {
  readonly key: string;
  readonly name: string;
  readonly level: 1 | 2;
  readonly count: number;
  readonly isOpen: boolean;
}

export function fits(row: EventRow, filter: Filter, words = wordsOf(filter)): boolean {
  if ((filter.event !== "" && row.event !== filter.event) ||
    (filter.dispatch !== "" && row.dispatchId !== filter.dispatch) ||
    (filter.outcome !== "" && outcomeOf(row) !== filter.outcome) ||
    (filter.withProblems && row.findings === 0)) {
    return false;
  }
  if (words.length === 0) {
    return true;
  }
  const text = [row.line + 1, row.event, row.dispatch, row.slice, row.words, outcomeOf(row)].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}

export function wordsOf({ text }: Filter): string[] {
  return text.toLowerCase().split(/\s+/).filter((word) => word !== "");
}

/** How it came out, or that readers do not take it. */
export function outcomeOf(row: EventRow): string {
  return row.status === "invalid" ? "rejected" : row.status === "unknown" ? "unknown" : row.outcome ?? "";
}

/** What is shown, in the order of the trace; in groups, where each begins. */
export function itemsOf(rows: readonly EventRow[], filter: Filter, folded: ReadonlySet<string>): Item[] {
  const words = wordsOf(filter);
  const shown = rows.filter((row) => fits(row, filter, words));
  if (filter.byTime) {
    const took = ({ clockMs, claimedMs }: EventRow): number => Math.max(clockMs ?? -1, claimedMs ?? -1);
    return shown.filter((row) => took(row) >= 0).sort((one, other) => took(other) - took(one)).map((row) => ({ row }));
  }
  if (!filter.grouped) {
    return shown.map((row) => ({ row }));
  }
  const slices = groups(shown, ({ run, slice }) => `${run ?? ""}\n${slice ?? ""}`);
  return slices.flatMap(([key, ofSlice]) => {
    const { run, slice } = ofSlice[0] ?? {};
    const heading = { key, name: slice ?? run ?? "–", level: 1, count: ofSlice.length, isOpen: !folded.has(key) } as const;
    return [heading, ...(heading.isOpen ? dispatches(key, ofSlice, folded) : [])];
  });
}

function dispatches(slice: string, rows: readonly EventRow[], folded: ReadonlySet<string>): Item[] {
  return groups(rows, ({ dispatchId }) => dispatchId ?? "").flatMap(([id, ofDispatch]) => {
    if (id === "") {
      return ofDispatch.map((row) => ({ row }));
    }
    const key = `${slice}\n${id}`;
    const isOpen = !folded.has(key);
    const name = ofDispatch[0]?.dispatch ?? id;
    const heading: Item = { key, name, level: 2, count: ofDispatch.length, isOpen };
    return [heading, ...(isOpen ? ofDispatch.map((row) => ({ row })) : [])];
  });
}

function groups(rows: readonly EventRow[], keyOf: (row: EventRow) => string): [string, EventRow[]][] {
  const found = new Map<string, EventRow[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const known = found.get(key);
    if (known === undefined) {
      found.set(key, [row]);
    } else {
      known.push(row);
    }
  }
  return [...found];
}

/** A duration in few characters, rounded: `19m 58s`. */
export function duration(milliseconds: number | null): string {
  if (milliseconds === null || milliseconds < 0) {
    return "";
  }
  const seconds = Math.round(milliseconds / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const two = (part: number): string => String(part).padStart(2, "0");
  if (hours > 0) {
    return `${hours}h ${two(minutes)}m`;
  }
  return minutes > 0 ? `${minutes}m ${two(seconds % 60)}s` : `${seconds}s`;
}

/** From the event before to this one. */
export function sinceBefore(row: EventRow, before: EventRow | undefined): string {
  const passed = Date.parse(row.ts ?? "") - Date.parse(before?.ts ?? "");
  return Number.isNaN(passed) || passed === 0 ? "" : passed < 0 ? `−${duration(-passed)}` : `+${duration(passed)}`;
}
