import type { ReportBody } from "../protocol";
import { element, host, listen, words } from "./host";

interface Message {
  readonly content?: ReportBody;
  readonly isGone?: true;
}

const said = words();
const gone = element("p", "gone warn", said.gone);
const elsewhere = element("p", "elsewhere warn");
const report = element("div", "report");
gone.hidden = elsewhere.hidden = true;
document.body.append(gone, elsewhere, report);
let isFirst = true;

listen(({ content, isGone }: Message) => {
  gone.hidden = isGone !== true;
  if (content !== undefined) {
    show(content);
  }
});

window.addEventListener("scroll", () => { host.setState({ top: window.scrollY }); }, { passive: true });

/** Puts the new report in place of the old one; what was in view, and what was unfolded, stays. */
function show({ body, style, elsewhere: other }: ReportBody): void {
  const top = isFirst ? stateTop() : window.scrollY;
  const open = new Set(isFirst ? [] : unfolded());
  isFirst = false;
  const sheet = document.getElementById("sheet");
  if (sheet !== null && sheet.textContent !== style) {
    sheet.textContent = style;
  }
  elsewhere.hidden = other === null;
  elsewhere.textContent = other === null ? "" : `${said.elsewhere ?? ""} ${other}`;
  // The server has escaped whatever comes from a trace, and the page's policy runs nothing.
  report.innerHTML = body;
  for (const details of report.querySelectorAll("details")) {
    details.open = open.has(nameOf(details));
  }
  window.scrollTo({ top, behavior: "instant" });
}

function stateTop(): number {
  const state = host.getState() as { top?: number } | undefined;
  return state?.top ?? 0;
}

function unfolded(): string[] {
  return [...report.querySelectorAll<HTMLDetailsElement>("details[open]")].map(nameOf);
}

/** A summary without its count, which changes as the run goes on. */
function nameOf(details: HTMLDetailsElement): string {
  const summary = details.querySelector("summary")?.textContent ?? "";
  return summary.replace(/ \([\d,]+\)$/, "");
}
