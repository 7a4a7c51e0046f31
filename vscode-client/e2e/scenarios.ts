import * as path from "node:path";

import { packageProbe, playAgent } from "./agent-story";
import { playBundledStory, playUntrustedStory } from "./bundled-story";
import type { Editor } from "./editor";
import { playEvents, prepareEvents } from "./events-story";
import { playPages } from "./pages-story";
import { playGrading, prepareGrading } from "./grading-story";
import { folder } from "./memory-files";
import { packagePythonExtension } from "./python-extension";
import { playPythonStory } from "./python-story";
import { playQuiet, prepareQuiet } from "./quiet-story";
import { type Programs, quoted, type Sandbox } from "./sandbox";
import { playSaves, prepareSaves } from "./saves-story";
import { playStory } from "./story";
import { demoTrace, repairedTrace, shortTrace, ungradedTrace } from "./trace";
import { playViews } from "./views";
import { playWithoutPython } from "./wasm-story";
import { packageFiles, playInBrowser } from "./web-story";

/** A story with the machine that it plays on. */
export interface Scenario {
  readonly name: string;
  readonly offline: boolean;
  /** Whether every workspace is trusted. */
  readonly trusting: boolean;
  readonly trace: string;
  /** Whether pictures of it are in the documentation. */
  readonly isPictured?: boolean;
  programs(repository: string): Programs;
  /** The folder that the window shows, where it is not that of the sandbox. */
  readonly folder?: string;
  prepare?(sandbox: Sandbox, repository: string): Promise<void>;
  /** Packages of other extensions that are there as well. */
  extensions?(sandbox: Sandbox): Promise<string[]>;
  play(editor: Editor, sandbox: Sandbox): Promise<void>;
}

const pythons = ["python", ...["3", "3.11", "3.12", "3.13", "3.14"].map((version) => `python${version}`)];

export const scenarios: readonly Scenario[] = [
  {
    name: "a server on the PATH",
    offline: false,
    trusting: true,
    trace: demoTrace(),
    isPictured: true,
    programs: (repository) => ({ "drive-trace": installed(repository) }),
    play: playStory,
  },
  {
    name: "a quiet editor, and grades on purpose",
    offline: false,
    trusting: true,
    trace: ungradedTrace(),
    programs: (repository) => ({ "drive-trace": installed(repository) }),
    prepare: prepareQuiet,
    play: playQuiet,
  },
  {
    name: "tools for an agent",
    offline: false,
    trusting: true,
    trace: ungradedTrace(),
    programs: (repository) => ({ "drive-trace": installed(repository) }),
    extensions: async (sandbox) => [await packageProbe(sandbox)],
    play: playAgent,
  },
  {
    name: "the views beside a trace",
    offline: false,
    trusting: true,
    trace: repairedTrace(),
    isPictured: true,
    programs: (repository) => ({ "drive-trace": installed(repository) }),
    prepare: (sandbox) => sandbox.addProject(),
    play: playViews,
  },
  {
    name: "pages of runs",
    offline: false,
    trusting: true,
    trace: repairedTrace(),
    programs: (repository) => ({ "drive-trace": installed(repository) }),
    prepare: (sandbox) => sandbox.addProject(),
    play: playPages,
  },
  {
    name: "the events of a trace",
    offline: false,
    trusting: true,
    trace: repairedTrace(),
    programs: (repository) => ({ "drive-trace": installed(repository) }),
    prepare: prepareEvents,
    play: playEvents,
  },
  {
    name: "saves of a trace that others write to",
    offline: false,
    trusting: true,
    trace: shortTrace(),
    programs: (repository) => ({ "drive-trace": installed(repository) }),
    prepare: prepareSaves,
    play: playSaves,
  },
  {
    name: "gates and a judge",
    offline: true,
    trusting: true,
    trace: ungradedTrace(),
    isPictured: true,
    programs: (repository) => ({ "drive-trace": installed(repository) }),
    prepare: prepareGrading,
    play: playGrading,
  },
  {
    name: "the server inside the .vsix",
    offline: true,
    trusting: true,
    trace: shortTrace(),
    programs: (repository) => ({ python3: `exec ${quoted(python(repository))} "$@"` }),
    play: playBundledStory,
  },
  {
    name: "no Python on the machine",
    offline: true,
    trusting: true,
    trace: shortTrace(),
    programs: () => Object.fromEntries(pythons.map((name) => [name, "exit 127"])),
    play: playWithoutPython,
  },
  {
    name: "a browser, and no disk",
    offline: true,
    trusting: true,
    trace: shortTrace(),
    folder,
    programs: () => ({}),
    prepare: (sandbox) => sandbox.runInBrowser(),
    extensions: async (sandbox) => [await packageFiles(sandbox)],
    play: playInBrowser,
  },
  {
    name: "environments of the workspace",
    offline: false,
    trusting: true,
    trace: shortTrace(),
    programs: (repository) => ({ python3: `exec ${quoted(python(repository))} "$@"` }),
    prepare: addEnvironments,
    extensions: async (sandbox) => [await packagePythonExtension(sandbox.workshop)],
    play: playPythonStory,
  },
  {
    name: "a workspace that is not trusted",
    offline: true,
    trusting: false,
    trace: shortTrace(),
    programs: (repository) => ({ python3: `exec ${quoted(python(repository))} "$@"` }),
    prepare: (sandbox) => sandbox.nameCommands(),
    play: playUntrustedStory,
  },
];

async function addEnvironments(sandbox: Sandbox, repository: string): Promise<void> {
  const interpreter = { python: `exec ${quoted(python(repository))} "$@"` };
  await sandbox.addEnvironment("with-server", { ...interpreter, "drive-trace": installed(repository) });
  await sandbox.addEnvironment("without-server", interpreter);
  await sandbox.addEnvironment("alike", interpreter);
}

/** Runs the server of the checkout, through the tap where its messages are asked for. */
function installed(repository: string): string {
  const command = process.env.DRIVE_TRACE_COMMAND ?? path.join(repository, ".venv", "bin", "drive-trace");
  const messages = process.env.DRIVE_TRACE_MESSAGES;
  const plain = `exec ${quoted(command)} "$@"`;
  if (messages === undefined) {
    return plain;
  }
  const tap = path.join(repository, "tests", "support", "tap.py");
  const words = ["env", `DRIVE_TRACE_MESSAGES=${messages}`, python(repository), "-I", "-S", tap, command];
  return `[ "$1" = serve ] && exec ${words.map(quoted).join(" ")} "$@"\n${plain}`;
}

function python(repository: string): string {
  return path.join(repository, ".venv", "bin", "python");
}
