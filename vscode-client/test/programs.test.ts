import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, test } from "node:test";

import { findServer, missingServer, type Surroundings } from "../src/server-command";

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

test("a server that is missing is told with the way to install it", () => {
  const way = 'Install drive-trace as the Install section of its README says ("pipx install ." in a checkout), or set its path.';
  assert.equal(missingServer("drive-trace"), `No executable file "drive-trace" was found on the PATH. ${way}`);
  assert.equal(missingServer("./x"), `No executable file "./x" was found there. ${way}`);
});

test("the READMEs say the same of it", async () => {
  const command = /"(pipx install [^"]+)"/.exec(missingServer("drive-trace"))?.[1];
  for (const readme of ["README.md", path.join("..", "README.md")]) {
    const install = (await readFile(readme, "utf8")).split(/^## /m).find((section) => section.startsWith("Install\n"));
    assert.ok(install?.split("\n").includes(`    ${command}`), readme);
  }
});
