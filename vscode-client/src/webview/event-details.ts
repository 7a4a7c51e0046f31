import type { EventDetails, EventField } from "../protocol";
import { element, word } from "./host";

export interface Told {
  readonly details?: EventDetails | null;
}

/** The chosen event: its findings, and its fields with their meanings and what they lead to. */
export class Details {
  readonly part = element("section", "details");
  /** Whether what every event has is unfolded. */
  private isOpen = false;

  constructor(private readonly go: (line: number) => void) {
    this.part.tabIndex = 0;
    this.part.setAttribute("aria-label", word("details"));
  }

  tell({ details }: Told): void {
    if (details === null) {
      this.part.replaceChildren();
    } else if (details !== undefined) {
      this.show(details);
    }
  }

  private show({ line, event, prose, findings, fields, text }: EventDetails): void {
    const title = element("h2", "", `${word("line")} ${line + 1} · ${event}`);
    const wrong = findings.map(({ severity, rule, message }) => {
      const made = element("p", `finding ${severity}`);
      made.append(element("strong", "", severity), `: ${message} (${rule})`);
      return made;
    });
    const rest = element("details", "");
    rest.open = this.isOpen;
    rest.addEventListener("toggle", () => { this.isOpen = rest.open; });
    rest.append(element("summary", "", word("rest")), this.list(fields.filter(({ isEnvelope }) => isEnvelope)), element("pre", "", text));
    this.part.replaceChildren(title, ...wrong, marked("p", prose), this.list(fields.filter(({ isEnvelope }) => !isEnvelope)), rest);
    this.part.scrollTop = 0;
  }

  private list(fields: readonly EventField[]): HTMLElement {
    const made = element("dl", "");
    for (const { name, value, meaning, leadsTo } of fields) {
      const shown = element("dd", "", value);
      if (leadsTo !== null) {
        const link = element("button", "link", `${word("line")} ${leadsTo + 1}`);
        link.type = "button";
        link.addEventListener("click", () => { this.go(leadsTo); });
        shown.append(" ", link);
      }
      if (meaning !== null) {
        shown.append(marked("span", meaning));
      }
      made.append(element("dt", "", name), shown);
    }
    return made;
  }
}

/** A meaning, with its code in code's font. */
function marked(name: "p" | "span", meaning: string): HTMLElement {
  const made = element(name, "meaning");
  made.append(...meaning.split("`").map((part, index) => (index % 2 === 1 ? element("code", "", part) : part)));
  return made;
}
