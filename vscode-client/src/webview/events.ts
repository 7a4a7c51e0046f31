import type { EventDetails, EventRow } from "../protocol";
import { duration, type Filter, type Heading, type Item, itemsOf, outcomeOf, sinceBefore } from "./event-list";
import { element, host, listen, word } from "./host";
import { VirtualRows } from "./virtual-rows";

/** What the extension sends. */
interface Told {
  /** Rows, from a line on: those known from there on are gone. */
  readonly page?: { from: number; rows: readonly EventRow[]; isLast: boolean };
  readonly details?: EventDetails | null;
  readonly cursor?: number;
}

const height = 24;
let rows: EventRow[] = [];
let items: Item[] = [];
let isComplete = false;
let at = 0;
const folded = new Set<string>();

const bar = element("div", "bar");
const search = element("input", "");
const type = element("select", "");
const dispatch = element("select", "");
const outcome = element("select", "");
const order = element("select", "");
const [problems, grouped] = [element("input", ""), element("input", "")];
const count = element("output", "count");
const head = element("div", "head row");
const room = element("div", "list");
const body = element("div", "rows");
const details = element("section", "details");

document.title = word("events");
search.type = "search";
search.placeholder = word("filter");
problems.type = grouped.type = "checkbox";
labelled(search, word("filter"));
labelled(type, word("event"));
labelled(dispatch, word("dispatch"));
labelled(outcome, word("outcome"));
labelled(order, word("order"));
order.append(new Option(word("inOrder"), ""), new Option(word("longest"), "longest"));
bar.append(search, type, dispatch, outcome, order, boxed(problems, word("problems")), boxed(grouped, word("grouped")), count);
const columns = ["line", "delta", "event", "within", "outcome", "time", "words"] as const;
head.setAttribute("aria-hidden", "true");
head.append(...columns.map((name) => element("span", name, word(name))));
room.tabIndex = 0;
room.setAttribute("role", "listbox");
room.setAttribute("aria-label", word("events"));
details.tabIndex = 0;
details.setAttribute("aria-label", word("details"));
room.append(body);
const main = element("main", "main");
main.append(bar, head, room, details);
document.body.append(main);

const list = new VirtualRows(room, body, { height, count: () => items.length, fill });

function labelled(part: HTMLElement, label: string): void {
  part.setAttribute("aria-label", label);
  part.addEventListener("input", () => { show(); });
}

function boxed(box: HTMLInputElement, label: string): HTMLElement {
  const made = element("label", "", label);
  made.prepend(box);
  box.addEventListener("input", () => { show(); });
  return made;
}

function filter(): Filter {
  return {
    text: search.value, event: type.value, dispatch: dispatch.value, outcome: outcome.value,
    withProblems: problems.checked, grouped: grouped.checked, byTime: order.value === "longest",
  };
}

/** Finds anew what is shown; the row that was chosen stays so. */
function show(): void {
  const line = lineAt(at);
  items = itemsOf(rows, filter(), folded);
  const place = items.findIndex((item) => "row" in item && item.row.line === line);
  at = place >= 0 ? place : Math.min(at, Math.max(0, items.length - 1));
  const events = items.filter((item) => "row" in item).length;
  count.textContent = `${events} / ${rows.length}${isComplete ? "" : "…"}`;
  list.refresh();
  mark();
}

function lineAt(index: number): number | undefined {
  const item = items[index];
  return item !== undefined && "row" in item ? item.row.line : undefined;
}

function fill(made: HTMLElement, index: number): void {
  const item = items[index];
  made.replaceChildren();
  if (item === undefined) {
    return;
  }
  made.id = `row-${index}`;
  made.dataset.index = String(index);
  made.setAttribute("role", "option");
  made.setAttribute("aria-setsize", String(items.length));
  made.setAttribute("aria-posinset", String(index + 1));
  made.setAttribute("aria-selected", String(index === at));
  if ("row" in item) {
    made.removeAttribute("aria-expanded");
    fillEvent(made, item.row, index);
  } else {
    fillHeading(made, item);
  }
}

function fillHeading(made: HTMLElement, { name, level, isOpen, count: events }: Heading): void {
  made.className = `row heading level-${level}`;
  made.setAttribute("aria-expanded", String(isOpen));
  made.append(element("span", "name", `${isOpen ? "▾" : "▸"} ${name} (${events})`));
}

function fillEvent(made: HTMLElement, row: EventRow, index: number): void {
  made.className = `row event ${row.status} ${row.severity ?? ""}`;
  const before = items[index - 1];
  const within = [row.dispatch, row.round === null ? "" : `R${row.round}`].filter(Boolean).join(" · ");
  const claim = row.claimedMs === null ? "" : ` (${duration(row.claimedMs)})`;
  const cells: Record<(typeof columns)[number], string> = {
    line: String(row.line + 1),
    delta: sinceBefore(row, before !== undefined && "row" in before ? before.row : undefined),
    event: row.event,
    within,
    words: row.words,
    outcome: outcomeOf(row) + (row.findings > 0 ? ` ⚠ ${row.findings}` : ""),
    time: duration(row.clockMs) + claim,
  };
  made.append(...columns.map((name) => element("span", name, cells[name])));
}

/** Marks the chosen row, for eyes and for a screen reader. */
function mark(): void {
  body.querySelectorAll("[aria-selected=true]").forEach((row) => { row.setAttribute("aria-selected", "false"); });
  const row = document.getElementById(`row-${at}`);
  row?.setAttribute("aria-selected", "true");
  room.setAttribute("aria-activedescendant", row?.id ?? "");
}

function choose(index: number, isTold = true): void {
  at = Math.max(0, Math.min(index, items.length - 1));
  list.show(at);
  mark();
  const line = lineAt(at);
  if (line !== undefined && isTold) {
    host.postMessage({ choose: line });
  }
}

function fold(index: number, isOpen?: boolean): void {
  const item = items[index];
  if (item === undefined || "row" in item || item.isOpen === isOpen) {
    return;
  }
  if (item.isOpen) {
    folded.add(item.key);
  } else {
    folded.delete(item.key);
  }
  at = index;
  show();
}

const moves: Record<string, () => number> = {
  ArrowDown: () => at + 1,
  ArrowUp: () => at - 1,
  PageDown: () => at + list.perPage,
  PageUp: () => at - list.perPage,
  Home: () => 0,
  End: () => items.length - 1,
};

room.addEventListener("keydown", (event) => {
  const move = moves[event.key];
  if (event.ctrlKey || event.metaKey || event.altKey) {
    return;
  }
  if (move !== undefined) {
    event.preventDefault();
    choose(move());
  } else if (event.key === "Enter") {
    const line = lineAt(at);
    if (line === undefined) {
      fold(at);
    } else {
      host.postMessage({ open: line });
    }
  } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    fold(at, event.key === "ArrowRight");
  }
});

// Not on a click: rows may be drawn again before the button is let go.
body.addEventListener("mousedown", ({ target, button }) => {
  const row = target instanceof Element && button === 0 ? target.closest<HTMLElement>(".row") : null;
  if (row !== null) {
    const index = Number(row.dataset.index);
    fold(index);
    choose(index);
  }
});

/** What can be chosen is what there is. */
function offer(select: HTMLSelectElement, all: string, found: ReadonlyMap<string, string>): void {
  const { value } = select;
  const option = (name: string, text: string): HTMLOptionElement => new Option(text, name);
  select.replaceChildren(option("", all), ...[...found].map(([name, text]) => option(name, text)));
  select.value = found.has(value) ? value : "";
}

function offerAll(): void {
  const of = (name: (row: EventRow) => string | null, text = name): Map<string, string> =>
    new Map(rows.flatMap((row) => (name(row) ? [[name(row) ?? "", text(row) ?? ""]] : [])));
  offer(type, word("event"), of(({ event }) => event));
  offer(dispatch, word("dispatch"), of(({ dispatchId }) => dispatchId, (row) => row.dispatch ?? row.dispatchId));
  offer(outcome, word("outcome"), of(outcomeOf));
}

function tell(said: EventDetails | null): void {
  details.replaceChildren();
  if (said === null) {
    return;
  }
  details.append(element("h2", "", `${said.line + 1} ${said.event}`), element("p", "prose", said.prose));
  const findings = said.findings.map(({ severity, rule, message }) => element("p", `finding ${severity}`, `${severity}: ${message} (${rule})`));
  const fields = element("dl", "");
  for (const { name, value, meaning, leadsTo } of said.fields) {
    const shown = element("dd", "", value);
    if (leadsTo !== null) {
      const link = element("button", "link", `${word("line")} ${leadsTo + 1}`);
      link.addEventListener("click", () => { chooseLine(leadsTo, true); });
      shown.append(" ", link);
    }
    if (meaning !== null) {
      shown.append(element("span", "meaning", meaning));
    }
    fields.append(element("dt", "", name), shown);
  }
  details.append(...findings, fields, element("pre", "", said.text));
}

function chooseLine(line: number, isTold: boolean): void {
  const index = items.findIndex((item) => "row" in item && item.row.line === line);
  if (index >= 0 && (index !== at || isTold)) {
    choose(index, isTold);
  }
}

listen(({ page, details: said, cursor }: Told) => {
  if (page !== undefined) {
    const known = rows.findIndex(({ line }) => line >= page.from);
    rows = [...(known < 0 ? rows : rows.slice(0, known)), ...page.rows];
    isComplete = page.isLast;
    if (page.isLast) {
      offerAll();
    }
    show();
  }
  if (said !== undefined) {
    tell(said);
  }
  if (cursor !== undefined) {
    chooseLine(cursor, false);
  }
});
search.focus();
