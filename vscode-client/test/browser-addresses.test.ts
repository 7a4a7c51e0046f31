import assert from "node:assert/strict";
import { test } from "node:test";

import { partsOf, pathOf } from "../src/starting/web/addresses";

const address = (scheme: string, authority: string, path: string, query = ""): { scheme: string; authority: string; path: string; query: string } =>
  ({ scheme, authority, path, query });

test("a file of any file system has a path of its own, and comes back from it", () => {
  const files = [
    address("vscode-vfs", "github", "/team/shop/trace.jsonl"),
    address("vscode-remote", "127.0.0.1:8080", "/home/me/a b/trace.jsonl"),
    address("trial", "", "/work"),
  ];
  const paths = files.map((each) => pathOf(each) ?? "");
  assert.equal(new Set(paths).size, files.length);
  assert.equal(paths[0], "/folders/vscode-vfs/github/team/shop/trace.jsonl");
  assert.deepEqual(paths.map((each) => ({ ...partsOf(each), query: "" })), files);
});

test("a folder that is the whole of a file system comes back, too", () => {
  assert.equal(pathOf(address("trial", "", "/")), "/folders/trial/-");
  assert.deepEqual(partsOf("/folders/trial/-"), { scheme: "trial", authority: "", path: "/" });
});

test("what is new, and a file as it once was, are no files", () => {
  assert.equal(pathOf(address("untitled", "", "Untitled-1")), undefined);
  assert.equal(pathOf(address("git", "", "/trace.jsonl", "{\"ref\":\"HEAD\"}")), undefined);
});

test("what stands elsewhere is left as it is", () => {
  assert.equal(partsOf("/home/me/trace.jsonl"), undefined);
  assert.equal(partsOf("/folders"), undefined);
});
