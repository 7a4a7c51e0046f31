import type { EventDetails, EventField } from "../protocol";
import { word } from "./host";
import { made } from "./made";

export interface Told {
  readonly details?: EventDetails | null;
}

/** The chosen event: its findings, and its fields with their meanings and what they lead to. */
export class Details {
  readonly part = made("section", { className: "details", tabIndex: 0, ariaLabel: word("details") });
  /** Whether what every event has is unfolded. */
  private isOpen = false;

  constructor(private readonly go: (line: number) => void) {}

  tell({ details }: Told): void {
    if (details === null) {
      this.part.replaceChildren();
    } else if (details !== undefined) {
      this.show(details);
    }
  }

  private show({ line, event, prose, findings, fields, text }: EventDetails): void {
    const rest = made("details", { open: this.isOpen, ontoggle: () => { this.isOpen = rest.open; } },
      made("summary", {}, word("rest")), this.list(fields.filter(({ isEnvelope }) => isEnvelope)), made("pre", {}, text));
    this.part.replaceChildren(
      made("h2", {}, `${word("line")} ${line + 1} · ${event}`),
      ...findings.map(({ severity, rule, message }) =>
        made("p", { className: `finding ${severity}` }, made("strong", {}, severity), `: ${message} (${rule})`)),
      marked("p", prose),
      this.list(fields.filter(({ isEnvelope }) => !isEnvelope)),
      rest,
    );
    this.part.scrollTop = 0;
  }

  private list(fields: readonly EventField[]): HTMLElement {
    return made("dl", {}, ...fields.flatMap(({ name, value, meaning, leadsTo }) => {
      const link = leadsTo === null ? [] : [
        " ", made("button", { type: "button", className: "link", onclick: () => { this.go(leadsTo); } }, `${word("line")} ${leadsTo + 1}`),
      ];
      return [made("dt", {}, name), made("dd", {}, value, ...link, ...(meaning === null ? [] : [marked("span", meaning)]))];
    }));
  }
}

/** A meaning, with its code in code's font. */
function marked(name: "p" | "span", meaning: string): HTMLElement {
  return made(name, { className: "meaning" }, ...meaning.split("`").map((part, index) => (index % 2 === 1 ? made("code", {}, part) : part)));
}
