import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { OneAtATime } from "../src/views/one-at-a-time";

/** Something that takes as long as a test wants it to. */
class Slow {
  began = 0;
  private readonly ends: (() => void)[] = [];

  readonly act = (): Promise<void> => {
    assert.equal(this.ends.length, 0, "never two at the same time");
    this.began += 1;
    return new Promise<void>((resolve) => { this.ends.push(resolve); });
  };

  async end(): Promise<void> {
    this.ends.shift()?.();
    await new Promise((resolve) => { setImmediate(resolve); });
  }
}

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
});

test("what is asked for meanwhile is done once more, after a rest as long as it took, unless it is urgent", async () => {
  const slow = new Slow();
  const turns = new OneAtATime(slow.act);
  turns.request();
  mock.timers.tick(0);
  turns.request();
  turns.request();
  mock.timers.tick(400);
  await slow.end();
  mock.timers.tick(399);
  assert.equal(slow.began, 1);
  mock.timers.tick(1);
  assert.equal(slow.began, 2);
  mock.timers.tick(400);
  await slow.end();
  turns.request();
  turns.request(true);
  mock.timers.tick(0);
  assert.equal(slow.began, 3);
  await slow.end();
  mock.timers.tick(1000);
  assert.equal(slow.began, 3);
});

test("it waits until nobody asks any more, but not for ever", () => {
  let count = 0;
  const turns = new OneAtATime(() => { count += 1; }, 10);
  turns.request();
  mock.timers.tick(9);
  turns.request();
  mock.timers.tick(9);
  assert.equal(count, 0);
  mock.timers.tick(1);
  assert.equal(count, 1);
});

test("it is done in the end, however often it is asked for, and not once it is disposed", async () => {
  let count = 0;
  const turns = new OneAtATime(() => { count += 1; }, 10);
  for (let times = 0; times < 12; times += 1) {
    turns.request();
    mock.timers.tick(5);
    await Promise.resolve();
  }
  assert.equal(count, 1);
  turns.dispose();
  mock.timers.tick(100);
  assert.equal(count, 1);
});

test("what was asked for meanwhile is not done once it is disposed, nor what is asked for later", async () => {
  const slow = new Slow();
  const turns = new OneAtATime(slow.act);
  turns.request();
  mock.timers.tick(0);
  turns.request();
  turns.dispose();
  mock.timers.tick(400);
  await slow.end();
  turns.request(true);
  mock.timers.tick(1000);
  assert.equal(slow.began, 1);
});
