import type { ReportBody } from "../protocol";
import { element, keep, kept, listen, type Message, tellLack } from "./host";
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

listen((message: Message<ReportBody>) => {
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
function show({ body, style }: ReportBody): void {
  const sheet = document.getElementById("sheet");
  if (sheet !== null && sheet.textContent !== style) {
    sheet.textContent = style;
  }
  const made = document.createElement("template");
  // The server has escaped whatever comes from a trace, and the page's policy runs nothing.
  made.innerHTML = body;
  patch(report, made.content);
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
