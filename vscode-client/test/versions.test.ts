import assert from "node:assert/strict";
import { test } from "node:test";

import { isCompatible, parseVersion } from "../src/starting/versions";

test("a version is read from what a server prints", () => {
  assert.deepEqual(parseVersion("drive-trace, version 0.12.3\n"), [0, 12, 3]);
  assert.deepEqual(parseVersion("1.2.3.dev4+local"), [1, 2, 3]);
});

test("what has no version is told", () => {
  for (const text of ["", "drive-trace", "version 1.2", "command not found"]) {
    assert.equal(parseVersion(text), undefined, text);
  }
});

test("a server is compatible from the client's patch on, up to the next minor version", () => {
  const client = [1, 4, 2] as const;
  assert.ok(isCompatible([1, 4, 2], client));
  assert.ok(isCompatible([1, 4, 10], client));
  assert.ok(!isCompatible([1, 4, 1], client), "an older patch");
  assert.ok(!isCompatible([1, 5, 2], client), "another minor version");
  assert.ok(!isCompatible([2, 4, 2], client), "another major version");
});
