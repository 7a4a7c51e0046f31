import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as path from "node:path";
import { test } from "node:test";

import type { Bundle } from "../src/starting/bundle";
import { describe, fits, type Interpreter, parseDescription, usualCommands } from "../src/starting/interpreters";

const linux: Bundle = {
  folder: "/extension/server", version: "0.1.0", target: "linux-x64", machine: "",
  compiled: { ".cpython-39-x86_64-linux-gnu.so": "cp39", ".cpython-311-x86_64-linux-gnu.so": "cp311", ".cpython-314-x86_64-linux-gnu.so": "cp314" },
};
const mac: Bundle = { ...linux, target: "darwin-arm64", machine: "arm64", compiled: { ".cpython-311-darwin.so": "cp311" } };

function python(suffix: string, machine = "x86_64"): Interpreter {
  return { file: "/usr/bin/python3", version: "3.11.4", suffix, machine };
}

test("an interpreter describes itself, whatever a shim prints before", () => {
  const line = "python\t/opt/my pythons/python3\t3.13.1\t.cpython-313-darwin.so\tarm64";
  const wanted = { file: "/opt/my pythons/python3", version: "3.13.1", suffix: ".cpython-313-darwin.so", machine: "arm64" };
  assert.deepEqual(parseDescription(`switching to 3.13\n${line}\n`), wanted);
  assert.deepEqual(parseDescription(`${line}\r\n`), wanted);
});

test("Windows names no machine", () => {
  const line = "python\tC:\\Python314\\python.exe\t3.14.0\t.cp314-win_amd64.pyd\t\r\n";
  assert.deepEqual(parseDescription(line), {
    file: "C:\\Python314\\python.exe", version: "3.14.0", suffix: ".cp314-win_amd64.pyd", machine: "",
  });
});

test("what is no Python has no description", () => {
  for (const output of ["", "Python was not found; run without arguments to install\n", "python\t/x\t3.11.1\n"]) {
    assert.equal(parseDescription(output), undefined, output);
  }
});

test("a real interpreter answers", () => {
  const repository = path.dirname(process.cwd());
  const file = process.env.PYTHON ?? path.join(repository, ".venv", "bin", "python");
  const interpreter = parseDescription(execFileSync(file, describe, { encoding: "utf8" }));
  assert.match(interpreter?.version ?? "", /^3\.\d+\.\d+$/);
  assert.match(interpreter?.suffix ?? "", /^\.cp/);
  assert.ok(path.isAbsolute(interpreter?.file ?? ""));
});

test("an interpreter runs what is compiled for its version and platform", () => {
  assert.ok(fits(python(".cpython-311-x86_64-linux-gnu.so"), linux));
  assert.ok(!fits(python(".cpython-310-x86_64-linux-gnu.so"), linux), "too old");
  assert.ok(!fits(python(".cpython-314t-x86_64-linux-gnu.so"), linux), "free-threaded");
  assert.ok(!fits(python(".cpython-311-x86_64-linux-musl.so"), linux), "another C library");
  assert.ok(!fits(python(".cp311-win32.pyd"), linux), "another system");
  assert.ok(!fits(python(".pypy311-pp73-x86_64-linux-gnu.so"), linux), "PyPy");
});

test("on a Mac it also has to be one for the same processor", () => {
  assert.ok(fits(python(".cpython-311-darwin.so", "arm64"), mac));
  assert.ok(!fits(python(".cpython-311-darwin.so", "x86_64"), mac));
});

test("commands are tried from the usual to the particular, the newest first", () => {
  const named = [["python3.14"], ["python3.11"], ["python3.9"]];
  assert.deepEqual(usualCommands(linux, "linux"), [["python3"], ["python"], ...named]);
  assert.deepEqual(usualCommands(linux, "win32"), [["python3"], ["python"], ["py", "-3"], ...named]);
  assert.deepEqual(usualCommands(mac, "darwin").slice(-2), [["python3"], ["python"]]);
});
