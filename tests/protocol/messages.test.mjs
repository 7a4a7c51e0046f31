/**
 * Whatever the server said in the end-to-end tests is what the types of the protocol allow.
 *
 * tests/support/tap.py wrote it down, for each suite into a folder of its own under the one that
 * DRIVE_TRACE_MESSAGES names.
 */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import * as path from "node:path";
import { test } from "node:test";

import { Conversation } from "./conversation.mjs";
import { corruptions } from "./corruptions.mjs";

const folder = process.env.DRIVE_TRACE_MESSAGES;
assert.ok(folder, "DRIVE_TRACE_MESSAGES names no folder");

/** Suites that run everywhere, and those that a machine may be unable to run. */
const always = ["pytest", "session"];
const whereTheyCan = ["clients", "e2e"];
const required = process.env.DRIVE_TRACE_E2E === "required" ? [...always, ...whereTheyCan] : always;
const recorded = existsSync(folder) ? readdirSync(folder) : [];

/** A recorded message for each kind that is corrupted below, with the request that it answers. */
const samples = new Map();

for (const suite of new Set([...required, ...recorded])) {
  test(`the messages recorded by ${suite}`, (context) => {
    const wrongs = {};
    let count = 0;
    const files = recorded.includes(suite) ? readdirSync(path.join(folder, suite)) : [];
    for (const file of files) {
      const conversation = new Conversation();
      for (const line of lines(path.join(folder, suite, file))) {
        const { from, message, stray } = line;
        if (from === "client") {
          conversation.ask(line);
          continue;
        }
        count += 1;
        const { about, wrong } = message === undefined ? { wrong: "bytes of no message" } : conversation.take(message);
        if (wrong === undefined) {
          keep(about, message);
        } else {
          wrongs[`${about}: ${wrong}`] ??= `${file}: ${JSON.stringify(stray ?? message).slice(0, 500)}`;
        }
      }
    }
    assert.ok(count > 0, `nothing was recorded: run "make ${suite === "session" ? "protocol" : suite}" before`);
    assert.deepEqual(wrongs, {});
    context.diagnostic(`${count} messages of ${files.length} servers`);
  });
}

for (const { of, what, corrupt } of corruptions) {
  test(`refused: ${of.name}, ${what}`, () => {
    const sample = samples.get(of);
    assert.ok(sample, "no such message was recorded");
    const copy = structuredClone(sample);
    corrupt(copy.message, copy);
    assert.equal(wrongWith(sample), undefined);
    assert.notEqual(wrongWith(copy), undefined);
  });
}

/** The lines of a recording; what is no UTF-8 or no JSON fails. */
function lines(file) {
  const text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}

function keep(method, message) {
  for (const { of } of corruptions) {
    if (!samples.has(of) && of.method === method && of.fits(message)) {
      samples.set(of, { message, method, id: message.id, token: message.params?.token, times: 1 });
    }
  }
}

/** What is wrong with a sample, in a conversation of its own. */
function wrongWith({ message, times, ...request }) {
  const conversation = new Conversation();
  conversation.ask(request);
  const wrongs = Array.from({ length: times }, () => conversation.take(message).wrong);
  return wrongs.find((wrong) => wrong !== undefined);
}
