import { setTimeout as pause } from "node:timers/promises";

/** Polls until `condition` gives something truthy, and returns that. */
export async function until<T>(
  what: string,
  condition: () => Promise<T> | T,
  patience = 30_000,
): Promise<NonNullable<T>> {
  const end = Date.now() + patience;
  for (;;) {
    const value = await condition();
    if (value) {
      return value;
    }
    if (Date.now() > end) {
      throw new Error(`waited ${patience / 1000} seconds for ${what}`);
    }
    await pause(50);
  }
}
