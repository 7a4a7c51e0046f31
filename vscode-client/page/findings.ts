/** The findings of `check`, each on its token. */

import { made } from "../src/webview/made";

interface Place {
  readonly path: string;
  readonly line: number;
}

interface Finding extends Place {
  readonly column: number;
  readonly end_line: number;
  readonly end_column: number;
  readonly code: string;
  readonly severity: string;
  readonly message: string;
  /** Where the same is found again. */
  readonly places?: readonly Place[];
}

/** Code points before the first token of a line and behind its last one. */
const around = 80;
const most = 1000;
const mostPlaces = 200;

export function findingsOf(json: string, texts: ReadonlyMap<string, string>): HTMLElement {
  const findings = JSON.parse(json) as Finding[];
  const byLine = new Map<string, Finding[]>();
  for (const each of findings.slice(0, most)) {
    const place = `${each.path}:${each.line}`;
    byLine.set(place, [...byLine.get(place) ?? [], each]);
  }
  const lines = new Map([...texts].map(([path, text]) => [path, text.split("\n")]));
  const list = made("ul", { className: "findings" }, ...[...byLine].map(([place, some]) => {
    const path = some[0]?.path ?? "";
    const text = lines.get(path)?.[(some[0]?.line ?? 0) - 1] ?? "";
    const told = some.map(({ severity, code, message, places }) =>
      made("li", {}, made("strong", { className: severity }, `${severity}: ${code}`), ` ${message}`, again(path, places)));
    return made("li", {}, made("span", {}, place), made("pre", {}, ...marked(text, some)), made("ul", {}, ...told));
  }));
  const more = findings.length > most ? `, of which the first ${most} are shown` : "";
  return made("div", {}, made("p", {}, findings.length ? `${findings.length} ${findings.length === 1 ? "finding" : "findings"}${more}.` : "No findings."), list);
}

/** Names the other places: "(also on lines 3, 5)". */
function again(own: string, places: readonly Place[] = []): string {
  const lines = new Set(places.slice(0, mostPlaces).map(({ path, line }) => (path === own ? String(line) : `${line} of ${path}`)));
  const more = places.length > mostPlaces ? ", …" : "";
  return lines.size === 0 ? "" : ` (also on ${lines.size === 1 ? "line" : "lines"} ${[...lines].join(", ")}${more})`;
}

/** The part of a line around its findings, with their tokens marked. */
function marked(text: string, findings: readonly Finding[]): (string | Node)[] {
  const points = Array.from(text);
  const spans = findings.map((each): [number, number] =>
    [each.column - 1, each.end_line === each.line ? each.end_column - 1 : points.length]);
  spans.sort(([one], [other]) => one - other);
  const from = Math.max((spans[0]?.[0] ?? 0) - around, 0);
  const until = Math.min(Math.max(...spans.map(([, end]) => end)) + around, points.length);
  const parts: (string | Node)[] = [from > 0 ? "…" : ""];
  let at = from;
  for (const [start, end] of spans) {
    parts.push(points.slice(at, Math.max(start, at)).join(""));
    if (end >= at) { // a place is as wide as nothing
      parts.push(made("mark", {}, points.slice(Math.max(start, at), end).join("") || "\u200b"));
    }
    at = Math.max(at, end);
  }
  parts.push(points.slice(at, until).join(""), until < points.length ? "…" : "");
  return parts;
}
