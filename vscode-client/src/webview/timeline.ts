import type { Timeline } from "../protocol";
import { markElements, momentFormat, percent, tickLabels } from "./axis";
import { type Change, changed } from "./change";
import { element, host, keep, kept, listen, type Message, tellLack, word } from "./host";
import {
  barsOf, lineOf, placed, type Range, type Row, rowAtLine, rowsOf, shifted, short, showing, type TimedMark, visible,
  wheeled, wholeRange, zoomed,
} from "./layout";
import { namesEdge, setNames } from "./names-column";

/** What of the page is kept while it is out of view. */
interface State {
  /** Null where all of the run is in view. */
  readonly view: Range | null;
  readonly top: number;
  readonly isAtEnd: boolean;
  /** Where the chosen row begins. */
  readonly line: number | null;
  readonly names: number | undefined;
}

interface Told extends Message<Timeline> {
  readonly change?: Change;
  readonly cursor?: number | null;
}

const rowHeight = 24;
/** A bar that is at the very end of what is in view can be seen all the same. */
const leastWidth = { clock: 2, claimed: 2, open: 6 };

const title = element("strong", "title");
const notice = element("p", "lack");
const empty = element("p", "empty soft", word("empty"));
const chart = element("div", "chart");
const axis = element("div", "axis");
const rows = element("div", "rows");
const fill = element("div", "fill");
const details = element("footer", "", word("keys"));

let timeline: Timeline | undefined;
let all: Row[] = [];
let marks: TimedMark[] = [];
let whole: Range = { from: 0, to: 1000 };
let view = whole;
let chosen = 0;
let chosenMark = -1;
/** Whether the foot is about the chosen row, and not about a mark or the keys. */
let isRowTold = false;
let cursor: number | null = null;
let here = -1;
let names = kept<State>().names;
let isDrawing = false;

build();
listen(({ change, ...told }: Told) => {
  const content = change && timeline ? changed(timeline, change) : told.content;
  const message = content === undefined ? told : { ...told, content };
  tellLack(notice, message, [chart]);
  if (message.cursor !== undefined) {
    cursor = message.cursor;
    followCursor();
  }
  if (message.content !== undefined) {
    take(message.content);
  }
});

function build(): void {
  const header = element("header", "");
  const key = element("span", "soft");
  for (const kind of ["clock", "claimed"]) {
    key.append(element("span", `key ${kind}`), word(kind));
  }
  header.append(title, key);
  const head = element("div", "head soft");
  head.append(element("span", "", word("lanes")), element("span", "", "UTC"));
  makeList(rows, word("lanes"));
  makeList(axis, word("others"));
  rows.append(fill);
  notice.setAttribute("role", "status");
  notice.hidden = empty.hidden = true;
  chart.append(head, axis, rows, namesEdge(changeNames));
  document.body.append(header, notice, empty, chart, details);
  setNames(names);
  hear();
}

function makeList(list: HTMLElement, name: string): void {
  list.tabIndex = 0;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", name);
}

function hear(): void {
  rows.addEventListener("scroll", draw, { passive: true });
  rows.addEventListener("keydown", (event) => { press(event, rowKeys()); });
  axis.addEventListener("keydown", (event) => { press(event, markKeys); });
  axis.addEventListener("focus", () => {
    // A click chooses by itself, and what it is on must not be drawn anew before it ends.
    if (axis.matches(":focus-visible")) {
      const first = marks.findIndex(({ at }) => at >= view.from);
      chooseMark(chosenMark < 0 ? first : chosenMark);
    }
  });
  onPick(rows, ".row", (index) => {
    choose(index);
    jump();
  });
  onPick(axis, ".mark", (index) => {
    chooseMark(index);
    jump(marks[index]?.line);
  });
  // Not passive: what zooms or pans here must not scroll or zoom anything else.
  chart.addEventListener("wheel", turn, { passive: false });
  new ResizeObserver(draw).observe(rows);
}

/** What is drawn anew between press and release is still picked, unlike by a click. */
function onPick(list: HTMLElement, selector: string, pick: (index: number) => void): void {
  let pressed: number | undefined;
  const indexOf = ({ target }: Event): number | undefined => {
    const index = (target as Element).closest<HTMLElement>(selector)?.dataset.index;
    return index === undefined ? undefined : Number(index);
  };
  list.addEventListener("pointerdown", (event) => {
    pressed = event.button === 0 ? indexOf(event) : undefined;
  });
  list.addEventListener("pointerup", (event) => {
    const picked = pressed;
    pressed = undefined;
    if (picked !== undefined && picked === indexOf(event)) {
      pick(picked);
    }
  });
  // A screen reader clicks without a pointer.
  list.addEventListener("click", (event) => {
    const picked = event.detail === 0 ? indexOf(event) : undefined;
    if (picked !== undefined) {
      pick(picked);
    }
  });
}

/** A run that goes on: the end stays in view where it was, and so does the time. */
function take(content: Timeline): void {
  const before = kept<State>();
  timeline = content;
  all = rowsOf(content, { round: word("round"), unnamed: word("unnamed") });
  whole = wholeRange(content);
  const markLine = marks[chosenMark]?.line;
  marks = placed(content.marks, whole);
  view = before.view ? shifted(before.view, whole, 0) : whole;
  const known = before.line == null ? -1 : all.findIndex((row) => lineOf(row) === before.line);
  chosen = known >= 0 ? known : Math.min(chosen, Math.max(0, all.length - 1));
  chosenMark = markLine === undefined ? -1 : marks.findIndex(({ line }) => line === markLine);
  const told = all[chosen];
  if (isRowTold && told !== undefined) {
    details.textContent = about(told);
  }
  title.textContent = content.title;
  empty.hidden = all.length > 0;
  fill.style.height = `${all.length * rowHeight}px`;
  here = cursor === null ? -1 : rowAtLine(all, cursor);
  if (before.top === undefined) {
    followCursor();
  } else {
    rows.scrollTop = before.isAtEnd === true ? fill.offsetHeight : before.top;
  }
  draw();
}

function state(): State {
  const row = all[chosen];
  return {
    view: view.from === whole.from && view.to === whole.to ? null : view,
    top: rows.scrollTop,
    isAtEnd: rows.scrollTop + rows.clientHeight >= fill.offsetHeight - 1,
    line: row === undefined ? null : lineOf(row),
    names,
  };
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
    isRowTold = true;
  }
  draw();
}

function chooseMark(index: number): void {
  chosenMark = Math.min(Math.max(index, 0), marks.length - 1);
  const mark = marks[chosenMark];
  if (mark !== undefined) {
    view = showing(view, whole, mark.at);
    isRowTold = false;
    details.textContent = `${mark.type} · ${momentFormat(whole, whole).format(mark.at)} UTC`;
  }
  draw();
}

function about({ label, span }: Row): string {
  const length = (milliseconds: number | null, name: string): string =>
    milliseconds === null ? "" : ` · ${short(milliseconds)} ${word(name)}`;
  const open = span.end === null && span.start !== null ? ` · ${word("open")}` : "";
  const unknown = span.start === null && span.end === null ? ` · ${word("untimed")}` : "";
  return `${label}${length(span.clock, "clock")}${length(span.claimed, "claimed")}${open}${unknown}`;
}

function jump(line?: number | null): void {
  const row = all[chosen];
  const wanted = line ?? (row && lineOf(row));
  if (wanted !== null && wanted !== undefined) {
    host.postMessage({ jump: wanted });
  }
}

type Keys = Record<string, () => void>;

const timeKeys: Keys = {
  "+": () => { zoom(0.5); },
  "=": () => { zoom(0.5); },
  "-": () => { zoom(2); },
  "0": () => { look(whole); },
};

const markKeys: Keys = {
  ...timeKeys,
  ArrowRight: () => { chooseMark(chosenMark + 1); },
  ArrowLeft: () => { chooseMark(chosenMark - 1); },
  Home: () => { chooseMark(0); },
  End: () => { chooseMark(marks.length - 1); },
  Enter: () => { jump(marks[chosenMark]?.line); },
};

function rowKeys(): Keys {
  const page = Math.max(1, Math.floor(rows.clientHeight / rowHeight) - 1);
  return {
    ...timeKeys,
    ArrowDown: () => { choose(chosen + 1); },
    ArrowUp: () => { choose(chosen - 1); },
    PageDown: () => { choose(chosen + page); },
    PageUp: () => { choose(chosen - page); },
    Home: () => { choose(0); },
    End: () => { choose(all.length - 1); },
    Enter: () => { jump(); },
    ArrowLeft: () => { look(shifted(view, whole, (view.from - view.to) * 0.2)); },
    ArrowRight: () => { look(shifted(view, whole, (view.to - view.from) * 0.2)); },
  };
}

function press(event: KeyboardEvent, keys: Keys): void {
  const move = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
  if (move !== undefined) {
    event.preventDefault();
    move();
  }
}

function turn(event: WheelEvent): void {
  const { left, width } = axis.getBoundingClientRect();
  const at = Math.min(Math.max((event.clientX - left) / width, 0), 1);
  const next = wheeled(view, whole, event, at, width);
  if (next !== undefined) {
    event.preventDefault();
    look(next);
  }
}

function zoom(factor: number): void {
  const middle = (view.from + view.to) / 2;
  const focus = document.activeElement === axis ? marks[chosenMark]?.at : all[chosen]?.span.start;
  look(zoomed(view, whole, factor, focus ?? middle));
}

function look(next: Range): void {
  view = next;
  draw();
}

function changeNames(width: number | undefined): void {
  names = width;
  setNames(width);
  draw();
}

function draw(): void {
  if (!isDrawing) {
    isDrawing = true;
    requestAnimationFrame(() => {
      isDrawing = false;
      drawAxis();
      drawRows();
      if (timeline !== undefined && !chart.hidden) {
        keep(state());
      }
    });
  }
}

/** Only what is in view is there at all, so that 10,000 rows cost no more than a hundred. */
function drawRows(): void {
  const { first, stop } = visible(rows.scrollTop, rows.clientHeight, rowHeight, all.length);
  const drawn = all.slice(first, stop).map((row, offset) => drawRow(row, first + offset));
  rows.replaceChildren(fill, ...drawn);
  pointAt(rows, chosen >= first && chosen < stop ? `row-${chosen}` : undefined);
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
    bar.style.left = `min(${percent(left)}, 100% - ${leastWidth[kind]}px)`;
    bar.style.width = `max(${leastWidth[kind]}px, ${percent(width)})`;
    lane.append(bar);
  }
  const label = element("div", "label");
  label.append(element("span", "name", row.name), element("span", "rest", row.rest));
  made.append(label, lane);
  return made;
}

function drawAxis(): void {
  const width = axis.clientWidth;
  const hasTimes = timeline !== undefined && timeline.start !== null;
  const labels = hasTimes ? tickLabels(width, whole, view) : [];
  axis.replaceChildren(...labels, ...markElements(width, view, marks, chosenMark));
  axis.tabIndex = marks.length === 0 ? -1 : 0;
  pointAt(axis, chosenMark < 0 ? undefined : "mark");
}

/** Tells a screen reader which part of a list is the chosen one. */
function pointAt(list: HTMLElement, id: string | undefined): void {
  if (id === undefined) {
    list.removeAttribute("aria-activedescendant");
  } else {
    list.setAttribute("aria-activedescendant", id);
  }
}
