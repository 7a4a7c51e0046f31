/** Documents that Python wrote, for a page that has no files. */

import { made } from "./made";

interface Shown {
  readonly html: string;
  /** What happened in the run, in the report's words. */
  readonly outline: readonly Element[];
  /** The verdict, or how many runs have which. */
  readonly verdict: Element | string;
}

export function withoutFiles(html: string): Shown {
  const read = new DOMParser().parseFromString(html, "text/html");
  // The paths are those of a file system in memory, which no editor can open.
  read.querySelectorAll('a[href^="vscode:"]').forEach((each) => { each.remove(); });
  read.querySelector("data#raw")?.setAttribute("data-files", "");
  read.querySelectorAll<HTMLAnchorElement>('a[href^="http"]').forEach((each) => {
    each.target = "_blank";
    each.rel = "noopener noreferrer";
  });
  const headline = read.querySelector(".headline");
  const verdict = headline?.querySelector("strong")?.cloneNode(true);
  if (verdict instanceof Element && headline !== null) {
    verdict.className = headline.classList.contains("correct") ? "correct" : headline.classList.contains("incorrect") ? "incorrect" : "";
  }
  const outline = [...headline?.querySelectorAll("p") ?? []].map((each) => made("p", {}, each.textContent));
  return { html: `<!DOCTYPE html>${read.documentElement.outerHTML}`, outline, verdict: verdict instanceof Element ? verdict : "" };
}
