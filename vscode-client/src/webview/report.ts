import { enhance, refresh } from "../../../server/drive_trace/report/html/page.js";
import type { BodyFile, ReportBody } from "../protocol";
import { element, host, keep, kept, listen, type Message, tellLack } from "./host";
import { nameOf, patch } from "./patch";

/** What of the page is kept while it is out of view. */
interface State {
  readonly top: number;
  /** The names of what is unfolded. */
  readonly open: readonly string[];
}

const notice = element("p", "lack warn");
const report = element("div", "report");
notice.setAttribute("role", "status");
notice.hidden = true;
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
  const made = document.createElement("template");
  // The server has escaped whatever comes from a trace, and the page's policy runs nothing.
  made.innerHTML = body;
  patch(report, made.content);
  refresh(report);
  pointAtCursor();
  if (isFirst) {
    restore();
  }
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
  const numberOf = ({ id }: Element): number => Number(id.split("-")[2]);
  const above = [...report.querySelectorAll(`.timeline a[id^="b-${file}-"]`)].filter((link) => numberOf(link) <= number);
  const last = above.reduce<Element | undefined>((one, other) =>
    one !== undefined && numberOf(one) > numberOf(other) ? one : other, undefined);
  last?.classList.add("here");
}
