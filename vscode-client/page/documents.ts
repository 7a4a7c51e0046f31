/** Documents that Python wrote, for a page that has no files. */

import { made } from "../src/webview/made";

interface Shown {
  readonly html: string;
  /** The verdict, or how many runs have which. */
  readonly verdict: Element;
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
  const className = ["correct", "incorrect"].find((each) => headline?.classList.contains(each)) ?? "";
  const verdict = made("strong", { className }, headline?.querySelector("strong")?.textContent ?? "");
  return { html: `<!DOCTYPE html>${read.documentElement.outerHTML}`, verdict };
}
