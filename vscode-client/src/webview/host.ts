/** What VS Code gives to the pages that it hosts. */

interface Host {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): Host;

export const host = acquireVsCodeApi();

/** The words that the page shows, by name. */
export function words(): Record<string, string> {
  return JSON.parse(document.body.dataset.words ?? "{}") as Record<string, string>;
}

/** An element with some text, which is never read as markup. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K, className: string, text = "",
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

/** Calls back with what the extension sends, and tells it that the page is there. */
export function listen(receive: (message: never) => void): void {
  window.addEventListener("message", ({ data }) => { receive(data as never); });
  host.postMessage("ready");
}
