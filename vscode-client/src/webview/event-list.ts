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

/** An event, with what the filter by text reads of it. */
export interface Row extends EventRow {
  readonly text: string;
}

/** A line of the list: an event, or what stands over those of a slice or dispatch. */
export type Item = Row | Heading;

export interface Heading {
  readonly key: string;
  readonly name: string;
  readonly level: 1 | 2;
  readonly count: number;
  /** How many of them have findings. */
  readonly problems: number;
  readonly isOpen: boolean;
}

export function rowOf(row: EventRow): Row {
  const parts = [row.line + 1, row.event, row.dispatch, row.slice, row.words, outcomeOf(row)];
  return { ...row, text: parts.join(" ").toLowerCase() };
}

export function isRow(item: Item | undefined): item is Row {
  return item !== undefined && "line" in item;
}

/** How it came out, or that readers do not take it. */
export function outcomeOf(row: EventRow): string {
  return row.status === "invalid" ? "rejected" : row.status === "unknown" ? "unknown" : row.outcome ?? "";
}

/** How long it took, by the clock, else as it claims. */
export function timeOf({ clockMs, claimedMs }: EventRow): number {
  return clockMs ?? claimedMs ?? -1;
}

/** What is shown, in the order of the trace; in groups, where each begins. */
export function itemsOf(rows: readonly Row[], filter: Filter, folded: ReadonlySet<string>): readonly Item[] {
  const shown = fitting(rows, filter);
  if (filter.byTime) {
    return shown.filter((row) => timeOf(row) >= 0).sort((one, other) => timeOf(other) - timeOf(one));
  }
  if (!filter.grouped) {
    return shown;
  }
  const slices = groups(shown, ({ run, slice }) => `${run ?? ""}\n${slice ?? ""}`);
  return slices.flatMap(([key, ofSlice]) => {
    const { run, slice } = ofSlice[0] ?? {};
    return under({ key, name: slice ?? run ?? "–", level: 1 }, ofSlice, folded, () => dispatches(key, ofSlice, folded));
  });
}

function fitting(rows: readonly Row[], filter: Filter): readonly Row[] {
  const { event, dispatch, outcome, withProblems } = filter;
  const words = filter.text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0 && event === "" && dispatch === "" && outcome === "" && !withProblems) {
    return rows;
  }
  return rows.filter((row) =>
    (event === "" || row.event === event) &&
    (dispatch === "" || row.dispatchId === dispatch) &&
    (outcome === "" || outcomeOf(row) === outcome) &&
    (!withProblems || row.findings !== undefined) &&
    words.every((word) => row.text.includes(word)));
}

function dispatches(slice: string, rows: readonly Row[], folded: ReadonlySet<string>): Item[] {
  return groups(rows, ({ dispatchId }) => dispatchId ?? "").flatMap(([id, ofDispatch]) => {
    const heading = { key: `${slice}\n${id}`, name: ofDispatch[0]?.dispatch ?? id, level: 2 } as const;
    return id === "" ? ofDispatch : under(heading, ofDispatch, folded, () => ofDispatch);
  });
}

/** A heading, and what is under it unless that is folded. */
function under(
  heading: Pick<Heading, "key" | "name" | "level">, rows: readonly Row[], folded: ReadonlySet<string>, items: () => readonly Item[],
): Item[] {
  const isOpen = !folded.has(heading.key);
  const problems = rows.filter(({ findings }) => findings !== undefined).length;
  return [{ ...heading, count: rows.length, problems, isOpen }, ...(isOpen ? items() : [])];
}

function groups(rows: readonly Row[], keyOf: (row: Row) => string): [string, Row[]][] {
  const found = new Map<string, Row[]>();
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

/** Puts rows in the place of those from a line on, up to another one. */
export function replaced(rows: readonly Row[], from: number, stop: number, by: readonly Row[]): Row[] {
  const place = (line: number): number => {
    let [low, high] = [0, rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      [low, high] = (rows[middle]?.line ?? 0) < line ? [middle + 1, high] : [low, middle];
    }
    return low;
  };
  return rows.slice(0, place(from)).concat(by, rows.slice(place(stop)));
}

/** A duration rounded to two units, as the server words them: `2d 3h`, `1h 05m`, `19m 58s`, `28m`, `45.2s`. */
export function duration(milliseconds: number | undefined): string {
  if (milliseconds === undefined || milliseconds < 0) {
    return "";
  }
  if (milliseconds < 1000) {
    return `${milliseconds}ms`;
  }
  if (milliseconds < 59_950) {
    return `${(milliseconds / 1000).toFixed(1)}s`.replace(".0s", "s");
  }
  const seconds = Math.round(milliseconds / 1000);
  const minutes = Math.round(seconds / 60);
  if (seconds < 3600) {
    return inTwo(seconds, 60, "m", "s");
  }
  return minutes < 1440 ? inTwo(minutes, 60, "h", "m") : inTwo(Math.round(minutes / 60), 24, "d", "h");
}

function inTwo(count: number, size: number, unit: string, smaller: string): string {
  const rest = count % size;
  const digits = unit === "d" ? String(rest) : String(rest).padStart(2, "0");
  return `${Math.floor(count / size)}${unit}${rest === 0 ? "" : ` ${digits}${smaller}`}`;
}

/** From the event before to this one. */
export function sinceBefore(row: EventRow, before: EventRow | undefined): string {
  const passed = Date.parse(row.ts ?? "") - Date.parse(before?.ts ?? "");
  return Number.isNaN(passed) || passed === 0 ? "" : passed < 0 ? `−${duration(-passed)}` : `+${duration(passed)}`;
}
