import assert from "node:assert/strict";
import { test } from "node:test";

import type { Bundle } from "../src/starting/bundle";
import { type Choice, chooseServer, type Machine, type Wishes } from "../src/starting/choice";

const bundle: Bundle = {
  folder: "/ext/server", version: "0.1.2", target: "linux-x64", machine: "",
  compiled: { ".cpython-311-x86_64-linux-gnu.so": "cp311", ".cpython-313-x86_64-linux-gnu.so": "cp313" },
};
const nothing: Wishes = {
  command: [], python: "", environment: undefined, version: "0.1.2", bundle, cache: "/cache",
};
const own = ["-I", "-S", "-X", "pycache_prefix=/cache", "/ext/server/launch.py", "serve"];

/** A machine with these programs, each with what it prints; bare names are found in /bin. */
function machine(programs: Record<string, string>): Machine {
  const absolute = (name: string): string => (name.includes("/") ? name : `/bin/${name}`);
  return {
    platform: "linux",
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
  assert.ok(choice.found, choice.found ? "" : choice.problem);
  return [choice.command.file, ...choice.command.args];
}

function choose(wishes: Partial<Wishes>, programs: Record<string, string>): Promise<Choice> {
  return chooseServer({ ...nothing, ...wishes }, machine(programs));
}

const fitting = "drive-trace, version 0.1.4\n";
const old = "drive-trace, version 0.0.9\n";
const python311 = { "/bin/python3": python("/bin/python3", "3.11.7") };

test("the command that is set is started, whatever its version", async () => {
  const programs = { "/bin/mine": "", "/bin/drive-trace": fitting };
  assert.deepEqual(await started({ command: ["mine"] }, programs), ["/bin/mine", "serve"]);
  assert.deepEqual(await started({ command: ["mine", "run", "x"] }, programs), ["/bin/mine", "run", "x", "serve"]);
});

test("one that is not there is told, and nothing else is started", async () => {
  const choice = await choose({ command: ["mine"] }, { "/bin/drive-trace": fitting, ...python311 });
  assert.ok(!choice.found);
  assert.equal(choice.setting, "driveTrace.server.command");
  assert.match(choice.problem, /^No executable file "mine" was found on the PATH\. /);
});

test("the workspace's environment goes before the PATH", async () => {
  const programs = { "/venv/bin/drive-trace": fitting, "/bin/drive-trace": fitting };
  assert.deepEqual(await started({ environment: "/venv/bin/python" }, programs), ["/venv/bin/drive-trace", "serve"]);
  assert.deepEqual(await started({}, programs), ["/bin/drive-trace", "serve"]);
});

test("an installed server that does not fit, or fails, gives way to the next", async () => {
  const programs = { "/venv/bin/drive-trace": old, "/bin/drive-trace": fitting, ...python311 };
  assert.deepEqual(await started({ environment: "/venv/bin/python" }, programs), ["/bin/drive-trace", "serve"]);
  assert.deepEqual(await started({}, { ...programs, "/bin/drive-trace": old }), ["/bin/python3", ...own]);
  assert.deepEqual(await started({}, { ...programs, "/bin/drive-trace": "" }), ["/bin/python3", ...own]);
});

test("the extension's own server runs on the workspace's Python, else on the first that can", async () => {
  const programs = {
    ...python311,
    "/venv/bin/python": python("/venv/bin/python", "3.13.0"),
    "/old/bin/python": python("/old/bin/python", "3.10.0"),
  };
  assert.deepEqual(await started({ environment: "/venv/bin/python" }, programs), ["/venv/bin/python", ...own]);
  assert.deepEqual(await started({ environment: "/old/bin/python" }, programs), ["/bin/python3", ...own]);
  const named = { "/bin/python3": python("/bin/python3", "3.9.2"), "/bin/python3.13": python("/bin/python3.13", "3.13.0") };
  assert.deepEqual(await started({}, named), ["/bin/python3.13", ...own]);
});

test("behind a shim it is the Python itself that is started", async () => {
  const shim = { "/bin/python3": python("/opt/3.11/bin/python3.11", "3.11.2") };
  assert.deepEqual(await started({}, shim), ["/opt/3.11/bin/python3.11", ...own]);
});

test("a Python that is set is the only one that is tried", async () => {
  const programs = { ...python311, "/mine/python": python("/mine/python", "3.13.1"), "/mine/old": python("/mine/old", "3.8.1") };
  assert.deepEqual(await started({ python: "/mine/python" }, programs), ["/mine/python", ...own]);
  const choice = await choose({ python: "/mine/old" }, programs);
  assert.ok(!choice.found);
  assert.match(choice.problem, /but only found \/mine\/old \(3\.8\.1\)/);
  const absent = await choose({ python: "/absent" }, programs);
  assert.match(absent.found ? "" : absent.problem, /but "\/absent" is none\. /);
});

test("without a Python that can, it is told which one is needed, and what there is", async () => {
  const none = await choose({}, {});
  assert.deepEqual(none, {
    found: false,
    problem: "Python 3.11 or newer is needed to run the server (3.11, 3.13 for linux-x64), but none was found. " +
      "Install one, or name one in the settings.",
    setting: "driveTrace.server.python",
  });
  const tooOld = await choose({}, { "/bin/python3": python("/bin/python3", "3.9.2"), "/bin/python": python("/bin/python3", "3.9.2") });
  assert.ok(!tooOld.found);
  assert.match(tooOld.problem, /, but only found \/bin\/python3 \(3\.9\.2\)\. /);
});

test("an extension that carries no server says so", async () => {
  const choice = await choose({ bundle: undefined }, python311);
  assert.ok(!choice.found);
  assert.match(choice.problem, /carries no server/);
});
