import type { EventRow } from "../protocol";
import { duration, type Filter, isRow, type Item, itemsOf, outcomeOf, replaced, type Row, rowOf, sinceBefore } from "./event-list";
import { Details, type Told as Said } from "./event-details";
import { host, listen, type Message, tellLack, word } from "./host";
import { made } from "./made";
import { VirtualRows } from "./virtual-rows";

/** What the extension sends. */
interface Told extends Said, Message<unknown> {
  /** The rows from a line on, up to another one. */
  readonly page?: { from: number; stop: number; rows: readonly EventRow[]; isLast: boolean };
  /** The line of the cursor, which is elsewhere. */
  readonly cursor?: number;
}

const height = 24;
let rows: readonly Row[] = [];
let items: readonly Item[] = [];
let isComplete = false;
let at = 0;
/** The line whose details are shown. */
let detailed: number | undefined;
/** A line to be chosen as soon as it is there. */
let awaited: number | undefined;
const folded = new Set<string>();

const search = made("input", { type: "search", placeholder: word("filter"), ariaLabel: word("filter"), oninput: filtered });
const [type, dispatch, outcome, order] = [chooser("event"), chooser("dispatch"), chooser("outcome"), chooser("order")];
order.append(new Option(word("inOrder"), ""), new Option(word("longest"), "longest"));
const [problems, grouped] = [box(), box()];
const count = made("output", { className: "count" });
const columns = ["line", "delta", "mark", "event", "within", "outcome", "time", "words"] as const;
const head = made("div", { className: "head row", ariaHidden: "true" }, ...columns.map((name) => made("span", { className: name }, word(name))));
const body = made("div", { className: "rows" });
const room = made("div", { className: "list", tabIndex: 0, role: "listbox", ariaLabel: word("events") }, body);
const notice = made("p", { className: "lack", role: "status", hidden: true });
const details = new Details((line) => { chooseLine(line); });
const labels = [[problems, "problems"], [grouped, "grouped"]] as const;
const bar = made("div", { className: "bar" }, search, type, dispatch, outcome, order, ...labels.map(([each, name]) => made("label", {}, each, word(name))), count);
document.body.append(made("main", { className: "main" }, bar, notice, head, room, details.part));

const list = new VirtualRows(room, body, { height, count: () => items.length, fill });

function chooser(name: string): HTMLSelectElement {
  return made("select", { ariaLabel: word(name), oninput: filtered });
}

function box(): HTMLInputElement {
  return made("input", { type: "checkbox", oninput: filtered });
}

function filter(): Filter {
  return {
    text: search.value, event: type.value, dispatch: dispatch.value, outcome: outcome.value,
    withProblems: problems.checked, grouped: grouped.checked, byTime: order.value === "longest",
  };
}

/** Finds anew what is shown; the row that was chosen stays so, and the last in view where it was. */
function show(): void {
  const line = lineAt(at);
  items = itemsOf(rows, filter(), folded);
  const place = line === undefined ? -1 : indexOf(line);
  at = place >= 0 ? place : Math.min(at, Math.max(0, items.length - 1));
  const events = items.filter(isRow).length;
  count.textContent = `${events} / ${rows.length}${isComplete ? "" : "…"}`;
  list.refresh();
  mark();
}

/** What is to be shown is something else: the chosen row comes into view. */
function filtered(): void {
  show();
  list.show(at);
  if (lineAt(at) !== detailed) {
    tell(false);
  }
}

function indexOf(line: number): number {
  return items.findIndex((item) => isRow(item) && item.line === line);
}

function lineAt(index: number): number | undefined {
  const item = items[index];
  return isRow(item) ? item.line : undefined;
}

function fill(row: HTMLElement, index: number): void {
  const item = items[index];
  row.replaceChildren();
  if (item === undefined) {
    return;
  }
  row.id = `row-${index}`;
  row.dataset.index = String(index);
  Object.assign(row, {
    role: "option", ariaSetSize: String(items.length), ariaPosInSet: String(index + 1), ariaSelected: String(index === at),
    ariaExpanded: isRow(item) ? null : String(item.isOpen),
  });
  if (isRow(item)) {
    fillEvent(row, item, order.value === "longest" ? undefined : items[index - 1]);
  } else {
    const told = item.problems > 0 ? ` · ${item.problems} ${word("problems")}` : "";
    row.className = `row heading level-${item.level}`;
    row.append(made("span", { className: "name" }, `${item.isOpen ? "▾" : "▸"} ${item.name} (${item.count})${told}`));
  }
}

const signs = { error: "✖", warning: "⚠", information: "ⓘ", hint: "ⓘ" };

function fillEvent(element: HTMLElement, row: Row, before: Item | undefined): void {
  element.className = `row event ${row.status}`;
  const claim = row.claimedMs === undefined ? "" : ` (${duration(row.claimedMs)})`;
  const cells: Record<(typeof columns)[number], string> = {
    line: String(row.line + 1),
    delta: sinceBefore(row, isRow(before) ? before : undefined),
    mark: row.severity === undefined ? "" : `${signs[row.severity]} ${row.findings ?? ""}`,
    event: row.event,
    within: [row.round === undefined ? "" : `R${row.round}`, row.dispatch].filter(Boolean).join(" · "),
    outcome: outcomeOf(row),
    time: duration(row.clockMs) + claim,
    words: row.words,
  };
  element.append(...columns.map((name) => made("span", { className: name === "mark" ? `mark ${row.severity ?? ""}` : name }, cells[name])));
}

/** Marks the chosen row, for eyes and for a screen reader. */
function mark(): void {
  body.querySelectorAll("[aria-selected=true]").forEach((row) => { row.ariaSelected = "false"; });
  const row = document.getElementById(`row-${at}`);
  row?.setAttribute("aria-selected", "true");
  room.setAttribute("aria-activedescendant", row?.id ?? "");
}

/** Chooses a row; unless the cursor is there already, it goes along. */
function choose(index: number, leads = true): void {
  at = Math.max(0, Math.min(index, items.length - 1));
  list.show(at);
  mark();
  tell(leads);
}

function tell(leads: boolean): void {
  detailed = lineAt(at);
  if (detailed === undefined) {
    details.tell({ details: null });
  } else {
    host.postMessage(leads ? { choose: detailed } : { look: detailed });
  }
}

function chooseLine(line: number, leads = true): void {
  const index = indexOf(line);
  awaited = index < 0 && !leads ? line : undefined;
  if (index >= 0) {
    choose(index, leads);
  }
}

function fold(index: number, isOpen?: boolean): void {
  const item = items[index];
  if (item === undefined || isRow(item) || item.isOpen === isOpen) {
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
  // From an event to what it stands under.
  ArrowLeft: () => items.findLastIndex((item, index) => index < at && !isRow(item)),
};

room.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) {
    return;
  }
  const line = lineAt(at);
  const move = moves[event.key];
  if (line === undefined && ["ArrowLeft", "ArrowRight", "Enter"].includes(event.key)) {
    fold(at, event.key === "Enter" ? undefined : event.key === "ArrowRight");
  } else if (move !== undefined) {
    const index = move();
    if (index >= 0) {
      choose(index);
    }
  } else if (event.key === "Enter") {
    host.postMessage({ open: line });
  } else {
    return;
  }
  event.preventDefault();
});

document.addEventListener("keydown", (event) => {
  const isFind = (event.ctrlKey || event.metaKey) && event.key === "f";
  if (isFind || (event.key === "/" && event.target === room)) {
    event.preventDefault();
    search.select();
  } else if (event.key === "Escape") {
    [search, type, dispatch, outcome, order].forEach((part) => { part.value = ""; });
    problems.checked = false;
    filtered();
    room.focus();
  } else if (event.key === "ArrowDown" && event.target === search) {
    event.preventDefault();
    room.focus();
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

/** What can be chosen is what there is. Of more nobody could choose; the filter by text finds them. */
const mostOffered = 500;

function offer(select: HTMLSelectElement, all: string, found: ReadonlyMap<string, string>): void {
  select.hidden = found.size > mostOffered;
  const offered = select.hidden ? [] : [...found];
  const key = JSON.stringify(offered);
  if (select.dataset.offered !== key) {
    const { value } = select;
    select.dataset.offered = key;
    select.replaceChildren(...[["", all], ...offered].map(([name, text]) => new Option(text, name)));
    select.value = offered.some(([name]) => name === value) ? value : "";
  }
}

function offerAll(): void {
  const found = (keyOf: (row: Row) => string | undefined, nameOf = keyOf): Map<string, string> =>
    new Map(rows.map((row) => [keyOf(row) ?? "", nameOf(row) ?? ""] as const).filter(([key]) => key !== ""));
  offer(type, word("event"), found((row) => row.event));
  offer(dispatch, word("dispatch"), found((row) => row.dispatchId, (row) => row.dispatch ?? row.dispatchId));
  offer(outcome, word("outcome"), found(outcomeOf));
}

function take({ from, stop, rows: read, isLast }: NonNullable<Told["page"]>): void {
  const isAtLast = at > 0 && at === items.length - 1;
  rows = replaced(rows, from, isLast ? Infinity : stop, read.map(rowOf));
  isComplete ||= isLast;
  if (isComplete) {
    offerAll();
  }
  show();
  const line = lineAt(at);
  if (awaited !== undefined) {
    chooseLine(awaited, false);
  } else if (isAtLast) {
    list.show(items.length - 1);
  }
  if (line !== undefined && line >= from && line < stop) {
    tell(false);
  }
}

listen((told: Told) => {
  tellLack(notice, told, []);
  if (told.page !== undefined) {
    notice.hidden = true;
    take(told.page);
  }
  details.tell(told);
  if (told.cursor !== undefined) {
    chooseLine(told.cursor, false);
  }
});
room.focus();
