import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import type * as vscode from "vscode";

import { filesIn } from "../src/starting/web/files";
import { Uri, written } from "./support/vscode";

const root = Uri.from({ scheme: "trial", path: "/work" }) as unknown as vscode.Uri;
let notes: string[] = [];

async function taken(): Promise<Record<string, number | undefined>> {
  const files = await filesIn([root], (line) => { notes.push(line); });
  return Object.fromEntries(files.map(([uri, data]) => [uri.path, data?.length]));
}

beforeEach(() => {
  written.clear();
  notes = [];
});

test("traces and configuration are taken, wherever they are, and nothing of an environment", async () => {
  for (const name of ["a/b/c/trace.jsonl", "drive-trace.toml", "notes.md", "node_modules/p/trace.jsonl", ".git/trace.jsonl"]) {
    written.set(`/work/${name}`, 3);
  }
  assert.deepEqual(await taken(), { "/work/drive-trace.toml": 3, "/work/a/b/c/trace.jsonl": 3 });
  assert.deepEqual(notes, []);
});

test("a file that is too large is left out, and so is what is too much together", async () => {
  written.set("/work/large.jsonl", 20_000_001);
  for (let number = 1; number <= 6; number += 1) {
    written.set(`/work/${number}.jsonl`, 20_000_000);
  }
  const found = await taken();
  assert.equal(found["/work/large.jsonl"], undefined);
  assert.equal(found["/work/5.jsonl"], 20_000_000);
  assert.equal(found["/work/6.jsonl"], undefined);
  assert.deepEqual(notes, [
    "trial:/work/large.jsonl is not read: it has 20000001 bytes, and at most 20000000 are read.",
    "trial:/work/6.jsonl is not read: it has 20000000 bytes, and at most 0 are read.",
  ]);
});

test("of too many files and folders, the nearest are taken", async () => {
  for (let number = 0; number < 1_200; number += 1) {
    written.set(`/work/${number}.jsonl`, 1);
    written.set(`/work/folder-${number}/deeper/trace.jsonl`, 1);
  }
  const found = Object.keys(await taken());
  assert.equal(found.length, 1_000);
  assert.ok(found.every((path) => path.split("/").length === 3));
  assert.match(notes.join("\n"), /1000 folders are looked through[^]*1000 are read/);
});
