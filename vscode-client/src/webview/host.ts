/** What VS Code gives to the pages that it hosts. */

interface Host {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): Host;

export const host = acquireVsCodeApi();

interface Given {
  readonly words: Record<string, string>;
  readonly place: object;
}

const given = JSON.parse(document.body.dataset.given ?? "{}") as Given;

/** A word that the page shows, by its name. */
export function word(name: string): string {
  return given.words[name] ?? "";
}

/** What a page has kept when it was last in view, or when the window was closed. */
export function kept<T extends object>(): Partial<T> {
  return host.getState() ?? {};
}

/** Keeps something for the next time, with the place by which the view is found again. */
export function keep(state: object): void {
  host.setState({ ...kept(), ...state, ...given.place });
}

export interface Message<T> {
  readonly content?: T;
  /** Why there is no content. */
  readonly lack?: "gone" | "absent" | "starting";
}

/**
 * Says why there is nothing to show. What was shown stays where only the server is gone: it is
 * still true of the trace as it was.
 */
export function tellLack(notice: HTMLElement, { content, lack }: Message<unknown>, shown: readonly HTMLElement[]): void {
  if (content === undefined && lack === undefined) {
    return;
  }
  notice.hidden = lack === undefined;
  notice.textContent = lack === undefined ? "" : word(lack);
  shown.forEach((each) => { each.hidden = lack === "gone"; });
}

/** Calls back with what the extension sends, and tells it that the page is there. */
export function listen(receive: (message: never) => void): void {
  window.addEventListener("message", ({ data }) => { receive(data as never); });
  keep({});
  host.postMessage("ready");
}
