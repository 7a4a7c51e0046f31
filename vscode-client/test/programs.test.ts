import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, test } from "node:test";

import { ask, findProgram, type Surroundings } from "../src/starting/programs";

/** What the names of programs end with. */
const suffix = process.platform === "win32" ? ".exe" : "";
let root: string;
let around: Surroundings;

before(async () => {
  root = await mkdtemp(path.join(tmpdir(), "drive-trace-test-"));
  around = {
    workspaceFolders: [path.join(root, "empty"), path.join(root, "workspace")],
    home: path.join(root, "home"),
    searchPath: [path.join(root, "first"), "", ".", path.join(root, "second")].join(path.delimiter),
  };
  await executable("second/drive-trace");
  await executable("workspace/.venv/bin/drive-trace");
  await executable("home/bin/drive-trace");
  await mkdir(path.join(root, "first", "drive-trace"), { recursive: true });
  await writeFile(path.join(root, "second", "notes"), "");
});

after(() => rm(root, { recursive: true }));

async function executable(name: string): Promise<void> {
  const file = path.join(root, name) + suffix;
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, "");
  await chmod(file, 0o755);
}

async function find(setting: string): Promise<string | undefined> {
  const program = await findProgram(setting, around);
  return program.found
    ? path.relative(root, program.file).replaceAll(path.sep, "/").replace(/\.exe$/, "")
    : undefined;
}

test("a bare command is the first executable file of that name on the PATH", async () => {
  assert.equal(await find("drive-trace"), "second/drive-trace");
});

test("a file that is not executable is no program", async () => {
  assert.equal(await find("notes"), undefined);
});

test("a path may be absolute, under home, or relative to a folder of the workspace", async () => {
  assert.equal(await find(path.join(root, "second", "drive-trace")), "second/drive-trace");
  assert.equal(await find("~/bin/drive-trace"), "home/bin/drive-trace");
  assert.equal(await find(".venv/bin/drive-trace"), "workspace/.venv/bin/drive-trace");
});

test("a relative path is not looked for without a workspace folder", async () => {
  const program = await findProgram("./drive-trace", { ...around, workspaceFolders: [] });
  assert.deepEqual(program, { found: false, tried: [] });
});

test("what was tried is told when there is no program", async () => {
  const program = await findProgram("absent", around);
  const tried = ["first", "second"].map((name) => path.join(root, name, "absent") + suffix);
  assert.deepEqual(program, { found: false, tried });
});

test("a folder of the PATH that is relative counts for nothing", async () => {
  const program = await findProgram("absent", { ...around, searchPath: [".", "bin", ""].join(path.delimiter) });
  assert.deepEqual(program, { found: false, tried: [] });
});

test("a program is asked for what it prints", async () => {
  assert.equal(await ask(process.execPath, ["-p", "1 + 1"], root), "2\n");
});

test("a file that the system cannot make a process of has said nothing", async () => {
  assert.equal(await ask(process.execPath, ["-p", "1", "x".repeat(3_000_000)], root), undefined);
});

test("a program that fails, is not there or takes too long has said nothing", async () => {
  assert.equal(await ask(process.execPath, ["-e", "console.log(1); process.exit(1)"], root), undefined);
  assert.equal(await ask(path.join(root, "absent"), [], root), undefined);
  assert.equal(await ask(process.execPath, ["-e", "setInterval(() => 0, 1000)"], root, 200), undefined);
});
