import assert from "node:assert/strict";
import * as path from "node:path";
import { test } from "node:test";

import type { Bundle } from "../src/starting/bundle";
import { type Choice, chooseServer, type Machine, type Wishes } from "../src/starting/choice";
import type { Told } from "../src/starting/wording";

const bundle: Bundle = {
  folder: "/ext/server", version: "0.1.2", target: "linux-x64", machine: "",
  compiled: { ".cpython-311-x86_64-linux-gnu.so": "cp311", ".cpython-313-x86_64-linux-gnu.so": "cp313" },
};
const nothing: Wishes = {
  command: [], python: "", environments: [], version: "0.1.2", bundle, hasWebAssembly: false, cache: "/cache",
};
const own = ["-I", "-S", "-X", "pycache_prefix=/cache", path.join("/ext/server", "launch.py")];

/** A machine with these programs, each with what it prints; bare names are found in /bin. */
function machine(programs: Record<string, string>, platform: NodeJS.Platform = "linux"): Machine {
  const absolute = (named: string): string => {
    const name = named.replaceAll(path.sep, "/");
    return name.includes("/") ? name : `/bin/${name}`;
  };
  return {
    platform,
    find: (name) => Promise.resolve(
      absolute(name) in programs ? { found: true, file: absolute(name) } : { found: false, tried: [absolute(name)] },
    ),
    ask: (file) => Promise.resolve(programs[file]),
    note: () => undefined,
  };
}

function python(file: string, version: string): string {
  const [major, minor] = version.split(".");
  return ["python", file, version, `.cpython-${major}${minor}-x86_64-linux-gnu.so`, "x86_64"].join("\t");
}

async function started(wishes: Partial<Wishes>, programs: Record<string, string>): Promise<string[]> {
  const choice = await choose(wishes, programs);
  assert.ok(choice.found, choice.found ? "" : choice.problem.text);
  return [choice.command.file, ...choice.command.args];
}

function choose(wishes: Partial<Wishes>, programs: Record<string, string>, on?: NodeJS.Platform): Promise<Choice> {
  return chooseServer({ ...nothing, ...wishes }, machine(programs, on));
}

/** What a person is told who gets no server. */
async function told(wishes: Partial<Wishes>, programs: Record<string, string>): Promise<Told> {
  const choice = await choose(wishes, programs);
  assert.ok(!choice.found, "a server was found");
  return choice.problem;
}

const fitting = "drive-trace, version 0.1.4\n";
const old = "drive-trace, version 0.0.9\n";
const python311 = { "/bin/python3": python("/bin/python3", "3.11.7") };

test("the command that is set is started, whatever its version", async () => {
  const programs = { "/bin/mine": "", "/bin/drive-trace": fitting };
  assert.deepEqual(await started({ command: ["mine"] }, programs), ["/bin/mine"]);
  assert.deepEqual(await started({ command: ["mine", "run", "x"] }, programs), ["/bin/mine", "run", "x"]);
});

test("one that is not there is told, and nothing else is started", async () => {
  const programs = { "/bin/drive-trace": fitting, ...python311 };
  const { text, setting } = await told({ command: ["mine"] }, programs);
  assert.match(text, /^No executable file "mine" was found on the PATH\. /);
  assert.equal(setting, "driveTrace.server.command");
  assert.match((await told({ command: ["./mine"] }, programs)).text, /^There is no executable file "\.\/mine"\. /);
});

test("the workspace's environment goes before the PATH", async () => {
  const programs = { "/venv/bin/drive-trace": fitting, "/bin/drive-trace": fitting };
  assert.deepEqual(await started({ environments: ["/venv/bin/python"] }, programs), ["/venv/bin/drive-trace"]);
  assert.deepEqual(await started({}, programs), ["/bin/drive-trace"]);
});

test("an installed server that does not fit, or fails, gives way to the next", async () => {
  const programs = { "/venv/bin/drive-trace": old, "/bin/drive-trace": fitting, ...python311 };
  assert.deepEqual(await started({ environments: ["/venv/bin/python"] }, programs), ["/bin/drive-trace"]);
  assert.deepEqual(await started({}, { ...programs, "/bin/drive-trace": old }), ["/bin/python3", ...own]);
  assert.deepEqual(await started({}, { ...programs, "/bin/drive-trace": "" }), ["/bin/python3", ...own]);
});

test("the extension's own server runs on the workspace's Python, else on the first that can", async () => {
  const programs = {
    ...python311,
    "/venv/bin/python": python("/venv/bin/python", "3.13.0"),
    "/old/bin/python": python("/old/bin/python", "3.10.0"),
  };
  assert.deepEqual(await started({ environments: ["/venv/bin/python"] }, programs), ["/venv/bin/python", ...own]);
  assert.deepEqual(await started({ environments: ["/old/bin/python"] }, programs), ["/bin/python3", ...own]);
  const named = { "/bin/python3": python("/bin/python3", "3.9.2"), "/bin/python3.13": python("/bin/python3.13", "3.13.0") };
  assert.deepEqual(await started({}, named), ["/bin/python3.13", ...own]);
});

test("every folder of the workspace is asked for its environment, in their order", async () => {
  const environments = ["/one/bin/python", "/two/bin/python"];
  const programs = { "/two/bin/drive-trace": fitting, "/bin/drive-trace": fitting };
  assert.deepEqual(await started({ environments }, programs), ["/two/bin/drive-trace"]);
  const pythons = { ...python311, "/two/bin/python": python("/two/bin/python", "3.13.0") };
  assert.deepEqual(await started({ environments }, pythons), ["/two/bin/python", ...own]);
});

test("what a Mac has instead of a Python is not run, as it would ask to install one", async () => {
  const stub = { "/usr/bin/python3": python("/usr/bin/python3", "3.11.7") };
  const inPlace = { python: "/usr/bin/python3" };
  assert.ok(!(await choose(inPlace, stub, "darwin")).found);
  assert.ok((await choose(inPlace, { ...stub, "/usr/bin/xcode-select": "/Library/Developer" }, "darwin")).found);
});

test("behind a shim it is the Python itself that is started", async () => {
  const shim = { "/bin/python3": python("/opt/3.11/bin/python3.11", "3.11.2") };
  assert.deepEqual(await started({}, shim), ["/opt/3.11/bin/python3.11", ...own]);
});

test("a Python that is set is the only one that is tried", async () => {
  const programs = { ...python311, "/mine/python": python("/mine/python", "3.13.1"), "/mine/old": python("/mine/old", "3.8.1") };
  assert.deepEqual(await started({ python: "/mine/python" }, programs), ["/mine/python", ...own]);
  assert.match((await told({ python: "/mine/old" }, programs)).text, /but only found \/mine\/old \(3\.8\.1\)/);
  assert.match((await told({ python: "/absent" }, programs)).text, /but "\/absent" is none\. /);
});

test("without a Python that can, it is told which one is needed, and what there is", async () => {
  assert.deepEqual(await told({}, {}), {
    text: "Python 3.11 or newer is needed to run the server (3.11, 3.13 for linux-x64), but none was found. " +
      "Install one, or name one in the settings.",
    setting: "driveTrace.server.python",
  });
  const old = { "/bin/python3": python("/bin/python3", "3.9.2"), "/bin/python": python("/bin/python3", "3.9.2") };
  assert.match((await told({}, old)).text, /, but only found \/bin\/python3 \(3\.9\.2\)\. /);
});

test("an extension that carries no server says so", async () => {
  const { text, setting } = await told({ bundle: undefined }, python311);
  assert.match(text, /carries no server, and no drive-trace of version 0\.1\.2 was found/);
  assert.equal(setting, "driveTrace.server.command");
});

test("where no Python fits, the server runs in WebAssembly", async () => {
  const hasWebAssembly = true;
  assert.deepEqual(await started({ hasWebAssembly }, {}), ["Pyodide"]);
  assert.deepEqual(await started({ hasWebAssembly }, { "/bin/python3": python("/bin/python3", "3.9.2") }), ["Pyodide"]);
  assert.deepEqual((await started({ hasWebAssembly }, python311))[0], "/bin/python3");
  assert.match((await told({ hasWebAssembly, python: "/mine" }, {})).text, /"\/mine" is none/);
});
