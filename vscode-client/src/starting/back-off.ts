/** The time in which so many ends are too many, in milliseconds. */
export const period = 3 * 60_000;
export const tooMany = 5;

/**
 * How long to wait before a server is started again, in milliseconds; nothing to give up.
 *
 * `ends` are the times at which it ended by itself, the last one just now.
 */
export function pauseAfter(ends: readonly number[]): number | undefined {
  const count = recent(ends).length;
  return count < tooMany ? 1000 * 2 ** Math.max(0, count - 1) : undefined;
}

/** Those that count: not long before the last one. */
export function recent(ends: readonly number[]): number[] {
  const last = ends.at(-1) ?? 0;
  return ends.filter((end) => last - end < period);
}
