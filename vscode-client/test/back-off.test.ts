import assert from "node:assert/strict";
import { test } from "node:test";

import { pauseAfter, period } from "../src/starting/back-off";

/** The pauses after each of the ends, which happen at these seconds. */
function pauses(...seconds: number[]): (number | undefined)[] {
  const ends = seconds.map((each) => each * 1000);
  return ends.map((_, index) => pauseAfter(ends.slice(0, index + 1)));
}

test("each end in a short time doubles the pause, and the fifth is the last", () => {
  assert.deepEqual(pauses(0, 10, 20, 30, 40), [1000, 2000, 4000, 8000, undefined]);
});

test("a server that ends now and then is always started again, and soon", () => {
  const rarely = period / 1000;
  assert.deepEqual(pauses(0, rarely, 2 * rarely, 3 * rarely, 4 * rarely, 5 * rarely), Array(6).fill(1000));
});

test("only the ends of the last minutes count", () => {
  assert.deepEqual(pauses(0, 1, 2, 3, 181, 182), [1000, 2000, 4000, 8000, 4000, 4000]);
});
