import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

/** The script of axe-core, for a page to run. */
export function axe(): Promise<string> {
  return readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
}

/** All that another theme of the same page can break. */
export const contrast: readonly string[] = ["color-contrast"];
