/** Files of any file system, as the server in the worker has them: on a disk of its own, in memory. */

/** What is used of VS Code's addresses. */
interface Address {
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
  readonly query: string;
}

const root = "/folders";

/** Where a file stands on that disk; undefined for what is no file: a new document, or a file as it once was. */
export function pathOf({ scheme, authority, path, query }: Address): string | undefined {
  const isFile = scheme !== "untitled" && query === "";
  return isFile ? `${root}/${scheme}/${authority || "-"}${path}`.replace(/\/$/, "") : undefined;
}

/** The parts of the address of what stands there. */
export function partsOf(path: string): { scheme: string; authority: string; path: string } | undefined {
  const [, scheme, authority, rest] = /^\/folders\/([^/]+)\/([^/]+)(\/.*)?$/.exec(path) ?? [];
  return scheme === undefined || authority === undefined
    ? undefined
    : { scheme, authority: authority === "-" ? "" : authority, path: rest ?? "/" };
}
