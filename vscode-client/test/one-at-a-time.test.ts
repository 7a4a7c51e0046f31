import assert from "node:assert/strict";
import { test } from "node:test";

import { OneAtATime } from "../src/views/one-at-a-time";

/** Something that takes as long as a test wants it to. */
class Slow {
  began = 0;
  private readonly ends: (() => void)[] = [];
  readonly turns = new OneAtATime(() => {
    assert.equal(this.ends.length, 0, "never two at the same time");
    this.began += 1;
    return new Promise<void>((resolve) => { this.ends.push(resolve); });
  });

  async end(): Promise<void> {
    this.ends.shift()?.();
    await settled();
  }
}

/** Lets all that follows from what has happened happen. */
function settled(): Promise<void> {
  return new Promise((resolve) => { setImmediate(resolve); });
}

test("what is asked for meanwhile is done once more, and what was begun is not dropped", async ({ mock }) => {
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const slow = new Slow();
  void slow.turns.request();
  void slow.turns.request();
  void slow.turns.request();
  assert.equal(slow.began, 1);
  await slow.end();
  mock.timers.tick(1);
  await settled();
  assert.equal(slow.began, 2);
  await slow.end();
  mock.timers.tick(1000);
  await settled();
  assert.equal(slow.began, 2);
});

test("it rests as long as it took, unless it is urgent", async ({ mock }) => {
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const slow = new Slow();
  void slow.turns.request();
  void slow.turns.request();
  mock.timers.tick(400);
  await slow.end();
  mock.timers.tick(399);
  await settled();
  assert.equal(slow.began, 1);
  mock.timers.tick(1);
  await settled();
  assert.equal(slow.began, 2);
  mock.timers.tick(400);
  await slow.end();
  void slow.turns.request(true);
  await settled();
  assert.equal(slow.began, 3);
});

test("a request that is done at once ends with what it began", async ({ mock }) => {
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const slow = new Slow();
  const request = slow.turns.request(true);
  await slow.end();
  mock.timers.tick(1);
  await request;
  assert.equal(slow.began, 1);
});

test("it begins at once when it has rested", async ({ mock }) => {
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const slow = new Slow();
  void slow.turns.request();
  await slow.end();
  mock.timers.tick(1);
  await settled();
  void slow.turns.request();
  assert.equal(slow.began, 2);
});
