import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, test } from "node:test";

import { findServer, type Surroundings } from "../src/server-command";

let root: string;
let around: Surroundings;

before(async () => {
  root = await mkdtemp(path.join(tmpdir(), "drive-trace-test-"));
  around = {
    workspaceFolder: path.join(root, "workspace"),
    home: path.join(root, "home"),
    searchPath: ["first", "", "second"].map((name) => name && path.join(root, name)).join(path.delimiter),
  };
  await executable("second/drive-trace");
  await executable("workspace/.venv/bin/drive-trace");
  await executable("home/bin/drive-trace");
  await mkdir(path.join(root, "first", "drive-trace"), { recursive: true });
  await writeFile(path.join(root, "second", "notes"), "");
});

after(() => rm(root, { recursive: true }));

async function executable(name: string): Promise<void> {
  const file = path.join(root, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, "");
  await chmod(file, 0o755);
}

async function find(setting: string, workspaceFolder = around.workspaceFolder): Promise<string | undefined> {
  const server = await findServer(setting, { ...around, workspaceFolder });
  return server.found ? path.relative(root, server.file) : undefined;
}

test("a bare command is the first executable file of that name on the PATH", async () => {
  assert.equal(await find("drive-trace"), "second/drive-trace");
});

test("a file that is not executable is no server", async () => {
  assert.equal(await find("notes"), undefined);
});

test("a path may be absolute, under home, or relative to the workspace folder", async () => {
  assert.equal(await find(path.join(root, "second", "drive-trace")), "second/drive-trace");
  assert.equal(await find("~/bin/drive-trace"), "home/bin/drive-trace");
  assert.equal(await find(".venv/bin/drive-trace"), "workspace/.venv/bin/drive-trace");
});

test("a relative path is not looked for without a workspace folder", async () => {
  const server = await findServer("./drive-trace", { ...around, workspaceFolder: undefined });
  assert.deepEqual(server, { found: false, tried: [] });
});

test("what was tried is told when there is no server", async () => {
  const server = await findServer("absent", around);
  const tried = ["first", "second"].map((name) => path.join(root, name, "absent"));
  assert.deepEqual(server, { found: false, tried });
});
