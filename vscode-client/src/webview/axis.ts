import { element } from "./host";
import { marksIn, type Range, ticks, type TimedMark } from "./layout";

/** A moment as the axis says it: as exactly as what is in view asks for. */
export function momentFormat(whole: Range, view: Range): Intl.DateTimeFormat {
  const isLong = whole.to - whole.from > 86_400_000;
  return new Intl.DateTimeFormat(document.documentElement.lang || undefined, {
    ...(isLong ? { month: "short", day: "numeric" } : {}), hour: "2-digit", minute: "2-digit", hour12: false,
    ...(view.to - view.from < 600_000 ? { second: "2-digit" } : {}), timeZone: "UTC",
  });
}

/** Round moments, with room for each. */
export function tickLabels(width: number, whole: Range, view: Range): HTMLElement[] {
  const format = momentFormat(whole, view);
  const room = whole.to - whole.from > 86_400_000 ? 100 : 80;
  const part = (moment: number): number => (moment - view.from) / (view.to - view.from);
  return ticks(view, Math.floor(width / room))
    .filter((moment) => (1 - part(moment)) * width > room / 2)
    .map((moment) => {
      const label = element("span", "tick", format.format(moment));
      label.style.left = percent(part(moment));
      return label;
    });
}

/** What happened beside dispatches and rounds; the chosen one is there whatever it falls together with. */
export function markElements(width: number, view: Range, marks: readonly TimedMark[], chosen: number): HTMLElement[] {
  const drawn = marksIn(marks, view, Math.floor(width / 4)).map(({ mark, index, at, count }) => {
    const made = element("span", "mark");
    made.dataset.index = String(index);
    made.style.left = percent(at);
    made.title = count > 1 ? `${mark.type} + ${count - 1}` : mark.type;
    return made;
  });
  const mark = marks[chosen];
  return mark === undefined ? drawn : [...drawn, chosenElement(mark, chosen, view, marks.length)];
}

function chosenElement(mark: TimedMark, index: number, view: Range, count: number): HTMLElement {
  const made = element("span", "mark chosen");
  made.id = "mark";
  made.dataset.index = String(index);
  made.style.left = percent((mark.at - view.from) / (view.to - view.from));
  made.title = mark.type;
  made.setAttribute("role", "option");
  made.setAttribute("aria-selected", "true");
  made.setAttribute("aria-posinset", String(index + 1));
  made.setAttribute("aria-setsize", String(count));
  made.setAttribute("aria-label", mark.type);
  return made;
}

export function percent(part: number): string {
  return `${part * 100}%`;
}
