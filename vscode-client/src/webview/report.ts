import { Idiomorph } from "idiomorph";

import { enhance, refresh } from "../../../server/drive_trace/report/html/page.js";
import type { BodyFile, ReportBody } from "../protocol";
import { host, keep, kept, listen, type Message, tellLack } from "./host";
import { made } from "./made";

/** What of the page is kept while it is out of view. */
interface State {
  readonly top: number;
  /** The names of what is unfolded. */
  readonly open: readonly string[];
}

/** What a person has changed: folds, zoom, axis, order, and what the Tab key leads to. */
const own = new Set(["open", "style", "tabindex", "data-z", "data-axis", "aria-pressed", "aria-sort"]);

const notice = made("p", { className: "lack warn", role: "status", hidden: true });
const report = made("div", { className: "report" });
document.body.append(notice, report);
let isFirst = true;
let files: readonly BodyFile[] = [];
let cursor: Cursor | null = null;

interface Cursor {
  readonly uri: string;
  readonly line: number;
}

interface Told extends Message<ReportBody> {
  readonly cursor?: Cursor | null;
}

enhance(document.documentElement, document.body, (file, number, byKey) => {
  const { uri, starts, runId } = files[file] ?? {};
  host.postMessage({ jump: { uri, line: starts?.[number - 1] ?? number - 1, runId, takesFocus: byKey } });
});

report.addEventListener("click", ({ target }) => {
  const button = (target as Element).closest<HTMLElement>("[data-do]");
  if (button !== null) {
    const { do: what, rule, file } = button.dataset;
    host.postMessage({ act: { do: what, rule, uri: files[Number(file)]?.uri } });
  }
});

listen((message: Told) => {
  if (message.cursor !== undefined) {
    cursor = message.cursor;
    pointAtCursor();
  }
  const wasHidden = report.hidden;
  tellLack(notice, message, [report]);
  if (message.content !== undefined) {
    show(message.content);
    if (wasHidden && !report.hidden) {
      window.scrollTo({ top: kept<State>().top ?? 0, behavior: "instant" });
    }
  }
});

window.addEventListener("scroll", keepState, { passive: true });
// This event does not bubble.
report.addEventListener("toggle", keepState, true);

function keepState(): void {
  if (!isFirst && !report.hidden) {
    const open = [...report.querySelectorAll<HTMLDetailsElement>("details[open]")].map(nameOf);
    keep({ top: window.scrollY, open } satisfies State);
  }
}

/** Only what differs is replaced, so that focus, selection and what is unfolded stay. */
function show({ title, body, style, files: traces }: ReportBody): void {
  document.title = title;
  files = traces;
  const sheet = document.getElementById("sheet");
  if (sheet !== null && sheet.textContent !== style) {
    sheet.textContent = style;
  }
  const template = document.createElement("template");
  // The server has escaped whatever comes from a trace, and the page's policy runs nothing.
  template.innerHTML = body;
  template.content.querySelectorAll<HTMLDetailsElement>("details:not([id])").forEach((each) => { each.id = nameOf(each); });
  void Idiomorph.morph(report, template.content, {
    morphStyle: "innerHTML", callbacks: { beforeAttributeUpdated: (name) => !own.has(name) },
  });
  refresh(report);
  pointAtCursor();
  if (isFirst) {
    restore();
  }
}

/** A summary without its count, which changes as the run goes on. */
function nameOf(details: Element): string {
  const summary = details.querySelector("summary")?.textContent ?? "";
  return summary.replace(/ \([\d,]+\)$/, "");
}

function restore(): void {
  const { top = 0, open = [] } = kept<State>();
  for (const details of report.querySelectorAll("details")) {
    details.open = open.includes(nameOf(details));
  }
  window.scrollTo({ top, behavior: "instant" });
  isFirst = false;
}

/** Marks the bar that the cursor's line is in: the last that begins on it or above. */
function pointAtCursor(): void {
  report.querySelectorAll(".here").forEach((each) => { each.classList.remove("here"); });
  const file = files.findIndex(({ uri }) => uri === cursor?.uri);
  if (cursor === null || file < 0) {
    return;
  }
  const { line } = cursor;
  const starts = files[file]?.starts;
  const number = starts ? starts.filter((start) => start <= line).length : line + 1;
  const numbered = [...report.querySelectorAll(`.timeline a[id^="b-${file}-"]`)].map((bar) => ({ bar, at: Number(bar.id.split("-")[2]) }));
  const above = numbered.filter(({ at }) => at <= number).sort((one, other) => one.at - other.at);
  above.at(-1)?.bar.classList.add("here");
}
