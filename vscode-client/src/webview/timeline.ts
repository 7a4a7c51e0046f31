import type { Timeline } from "../protocol";
import { element, listen, host, words } from "./host";
import {
  barsOf, marksIn, type Range, type Row, rowAtLine, rowsOf, shifted, short, ticks, visible, wholeRange, zoomed,
} from "./layout";

interface Message {
  readonly content?: Timeline & { readonly cursor: number | null };
  readonly isGone?: true;
  readonly cursor?: number;
}

const rowHeight = 24;
const said = words();
const word = (name: string): string => said[name] ?? "";

const title = element("strong", "title");
const gone = element("p", "soft", word("gone"));
const empty = element("p", "soft", word("empty"));
const axis = element("div", "axis");
const rows = element("div", "rows");
const fill = element("div", "fill");
const details = element("footer", "", word("keys"));

let timeline: Timeline | undefined;
let all: Row[] = [];
let whole: Range = { from: 0, to: 1000 };
let view = whole;
let chosen = 0;
let cursor: number | null = null;
let here = -1;
let isDrawing = false;

build();
listen(({ content, isGone, cursor: moved }: Message) => {
  gone.hidden = isGone !== true;
  if (content !== undefined) {
    take(content);
  } else if (moved !== undefined) {
    cursor = moved;
    followCursor();
  }
});

function build(): void {
  const header = element("header", "");
  const key = element("span", "soft");
  for (const kind of ["clock", "claimed"]) {
    key.append(element("span", `key ${kind}`), word(kind));
  }
  header.append(title, key);
  rows.tabIndex = 0;
  rows.setAttribute("role", "listbox");
  rows.setAttribute("aria-label", word("lanes"));
  rows.append(fill);
  gone.hidden = empty.hidden = true;
  document.body.append(header, gone, empty, axis, rows, details);
  rows.addEventListener("scroll", draw, { passive: true });
  rows.addEventListener("keydown", press);
  rows.addEventListener("click", ({ target }) => {
    const row = (target as Element).closest<HTMLElement>(".row");
    if (row !== null) {
      choose(Number(row.dataset.index));
      jump();
    }
  });
  new ResizeObserver(draw).observe(rows);
}

/** A run that goes on: the end stays in view where it was, and so does the time. */
function take(content: Timeline & { readonly cursor: number | null }): void {
  const sawAll = view.from === whole.from && view.to === whole.to;
  const wasAtEnd = timeline !== undefined && rows.scrollTop + rows.clientHeight >= fill.offsetHeight - 1;
  const isFirst = timeline === undefined;
  timeline = content;
  all = rowsOf(content, { round: word("round"), unnamed: word("unnamed") });
  whole = wholeRange(content);
  view = sawAll ? whole : shifted(view, whole, 0);
  chosen = Math.min(chosen, Math.max(0, all.length - 1));
  cursor = content.cursor ?? cursor;
  title.textContent = content.title;
  empty.hidden = all.length > 0;
  fill.style.height = `${all.length * rowHeight}px`;
  if (isFirst) {
    followCursor();
  } else if (wasAtEnd) {
    rows.scrollTop = fill.offsetHeight;
  }
  here = cursor === null ? -1 : rowAtLine(all, cursor);
  draw();
}

function followCursor(): void {
  here = cursor === null ? -1 : rowAtLine(all, cursor);
  if (here >= 0) {
    reveal(here);
  }
  draw();
}

function reveal(index: number): void {
  const top = index * rowHeight;
  if (top < rows.scrollTop) {
    rows.scrollTop = top;
  } else if (top + rowHeight > rows.scrollTop + rows.clientHeight) {
    rows.scrollTop = top + rowHeight - rows.clientHeight;
  }
}

function choose(index: number): void {
  chosen = Math.min(Math.max(index, 0), all.length - 1);
  const row = all[chosen];
  if (row !== undefined) {
    reveal(chosen);
    details.textContent = about(row);
  }
  draw();
}

function about({ label, span }: Row): string {
  const length = (milliseconds: number | null, name: string): string =>
    milliseconds === null ? "" : ` · ${short(milliseconds)} ${word(name)}`;
  const state = span.end === null && span.start !== null ? ` · ${word("open")}` : "";
  const unknown = span.start === null && span.end === null ? ` · ${word("untimed")}` : "";
  return `${label}${length(span.clock, "clock")}${length(span.claimed, "claimed")}${state}${unknown}`;
}

function jump(line = all[chosen]?.span.startLine ?? all[chosen]?.span.endLine): void {
  if (line !== null && line !== undefined) {
    host.postMessage({ jump: line });
  }
}

function press(event: KeyboardEvent): void {
  const page = Math.max(1, Math.floor(rows.clientHeight / rowHeight) - 1);
  const moves: Record<string, () => void> = {
    ArrowDown: () => { choose(chosen + 1); },
    ArrowUp: () => { choose(chosen - 1); },
    PageDown: () => { choose(chosen + page); },
    PageUp: () => { choose(chosen - page); },
    Home: () => { choose(0); },
    End: () => { choose(all.length - 1); },
    Enter: () => { jump(); },
    ArrowLeft: () => { pan(-0.2); },
    ArrowRight: () => { pan(0.2); },
    "+": () => { zoom(0.5); },
    "=": () => { zoom(0.5); },
    "-": () => { zoom(2); },
    "0": () => { view = whole; draw(); },
  };
  const move = event.ctrlKey || event.metaKey || event.altKey ? undefined : moves[event.key];
  if (move !== undefined) {
    event.preventDefault();
    move();
  }
}

function pan(share: number): void {
  view = shifted(view, whole, (view.to - view.from) * share);
  draw();
}

function zoom(factor: number): void {
  const middle = (view.from + view.to) / 2;
  view = zoomed(view, whole, factor, all[chosen]?.span.start ?? middle);
  draw();
}

function draw(): void {
  if (!isDrawing) {
    isDrawing = true;
    requestAnimationFrame(() => {
      isDrawing = false;
      drawAxis();
      drawRows();
    });
  }
}

/** Only what is in view is there at all, so that 10,000 rows cost no more than a hundred. */
function drawRows(): void {
  const { first, stop } = visible(rows.scrollTop, rows.clientHeight, rowHeight, all.length);
  const drawn = all.slice(first, stop).map((row, offset) => drawRow(row, first + offset));
  rows.replaceChildren(fill, ...drawn);
  if (chosen >= first && chosen < stop) {
    rows.setAttribute("aria-activedescendant", `row-${chosen}`);
  } else {
    rows.removeAttribute("aria-activedescendant");
  }
}

function drawRow(row: Row, index: number): HTMLElement {
  const made = element("div", `row ${row.depth === 0 ? "dispatch" : "round"}`);
  made.id = `row-${index}`;
  made.dataset.index = String(index);
  made.setAttribute("role", "option");
  made.setAttribute("aria-selected", String(index === chosen));
  made.setAttribute("aria-posinset", String(index + 1));
  made.setAttribute("aria-setsize", String(all.length));
  made.setAttribute("aria-label", about(row));
  made.classList.toggle("chosen", index === chosen);
  made.classList.toggle("here", index === here);
  made.style.transform = `translateY(${index * rowHeight}px)`;
  made.title = about(row);
  const lane = element("div", "lane");
  for (const { kind, left, width } of barsOf(row.span, whole, view)) {
    const bar = element("span", kind);
    bar.style.left = `${left * 100}%`;
    bar.style.width = `max(2px, ${width * 100}%)`;
    lane.append(bar);
  }
  made.append(element("div", "label", row.label), lane);
  return made;
}

function drawAxis(): void {
  const width = axis.clientWidth;
  const isLong = whole.to - whole.from > 86_400_000;
  const format = new Intl.DateTimeFormat(document.documentElement.lang || undefined, {
    ...(isLong ? { month: "short", day: "numeric" } : {}), hour: "2-digit", minute: "2-digit", hour12: false,
    ...(view.to - view.from < 600_000 ? { second: "2-digit" } : {}), timeZone: "UTC",
  });
  const hasTimes = timeline !== undefined && timeline.start !== null;
  const room = isLong ? 100 : 80;
  const part = (moment: number): number => (moment - view.from) / (view.to - view.from);
  const moments = hasTimes ? ticks(view, Math.floor(width / room)) : [];
  const labels = moments.filter((moment) => (1 - part(moment)) * width > room / 2).map((moment) => {
    const label = element("span", "", format.format(moment));
    label.style.left = `${part(moment) * 100}%`;
    return label;
  });
  const marks = marksIn(timeline?.marks ?? [], view, Math.floor(width / 4)).map(({ mark, at, count }) => {
    const button = element("button", "");
    button.style.left = `${at * 100}%`;
    button.title = count > 1 ? `${mark.type} + ${count - 1}` : mark.type;
    button.tabIndex = -1;
    button.setAttribute("aria-label", button.title);
    button.addEventListener("click", () => { jump(mark.line); });
    return button;
  });
  axis.replaceChildren(...labels, ...marks);
}
