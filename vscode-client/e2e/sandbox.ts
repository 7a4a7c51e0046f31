import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";

import { otherTrace, shortTrace } from "./trace";

/** Says nothing to anybody, and asks for nothing. */
const quietSettings = {
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
  "workbench.enableExperiments": false,
  "workbench.tips.enabled": false,
  "security.workspace.trust.enabled": false,
};

/** Motionless as well, and never saving by itself. */
const editorSettings = {
  ...quietSettings,
  "git.enabled": false,
  "files.autoSave": "off",
  "workbench.startupEditor": "none",
  "workbench.reduceMotion": "on",
  "workbench.layoutControl.enabled": false,
  "window.commandCenter": false,
  "chat.commandCenter.enabled": false,
  "editor.accessibilitySupport": "off",
  "editor.fontSize": 13,
  "editor.codeLensFontSize": 13,
  "editor.hover.delay": 100,
  "editor.minimap.enabled": false,
  "editor.stickyScroll.enabled": false,
  "editor.renderLineHighlight": "none",
};

export const themes = ["dark", "light"] as const;
export type Theme = (typeof themes)[number];

const colorThemes: Record<Theme, string> = { dark: "Default Dark Modern", light: "Default Light Modern" };

const markName = "DRIVE_TRACE_SANDBOX";

/** What a shell runs for each name, before anything of the machine's own `PATH`. */
export type Programs = Readonly<Record<string, string>>;

/** Folders of one run: a workspace to open, and all that VS Code writes. */
export class Sandbox {
  private constructor(private readonly root: string, private readonly theme: Theme = "dark") {}

  /** With a copy of a folder as the workspace, for a person to work in. */
  static async ofFolder(folder: string): Promise<Sandbox> {
    const sandbox = await Sandbox.empty();
    await cp(folder, sandbox.workspace, { recursive: true });
    await writeFile(path.join(sandbox.userData, "User", "settings.json"), JSON.stringify({
      ...quietSettings,
      "workbench.startupEditor": "readme",
    }));
    return sandbox;
  }

  private activityBar = "hidden";

  private static async empty(theme?: Theme): Promise<Sandbox> {
    const sandbox = new Sandbox(await mkdtemp(path.join(tmpdir(), "drive-trace-e2e-")), theme);
    const settings = ["User", "Machine"].map((name) => path.join(sandbox.userData, name));
    for (const folder of [sandbox.home, sandbox.extensions, sandbox.serverData, sandbox.bin, sandbox.ran, ...settings]) {
      await mkdir(folder, { recursive: true });
    }
    return sandbox;
  }

  static async create(programs: Programs, trace: string, theme: Theme): Promise<Sandbox> {
    const sandbox = await Sandbox.empty(theme);
    await writePrograms(sandbox.bin, programs);
    await mkdir(path.dirname(sandbox.trace), { recursive: true });
    await writeFile(sandbox.trace, trace);
    await mkdir(path.join(sandbox.workspace, "logs"));
    await writeFile(path.join(sandbox.userData, "User", "settings.json"), JSON.stringify(sandbox.editorSettings));
    await sandbox.changeSettings({});
    return sandbox;
  }

  /** Gives the workspace a trace that no search takes for one, and that makes verdicts incomplete. */
  async addLog(): Promise<void> {
    await writeFile(path.join(this.workspace, "logs", "agent.jsonl"), shortTrace());
  }

  /** Shows the icons of all views, as VS Code does by itself. */
  async showActivityBar(): Promise<void> {
    this.activityBar = "default";
    await writeFile(path.join(this.userData, "User", "settings.json"), JSON.stringify(this.editorSettings));
    await this.changeSettings({});
  }

  /** Has VS Code run extensions in the browser that can. */
  async runInBrowser(): Promise<void> {
    const kinds = { "remote.extensionKind": { "drive-trace.drive-trace": ["web"], "trial.memory-files": ["web"] } };
    await writeFile(path.join(this.userData, "User", "settings.json"), JSON.stringify({ ...this.editorSettings, ...kinds }));
  }

  /** Gives the workspace a second project, with a run of its own. */
  async addProject(): Promise<void> {
    await mkdir(path.dirname(this.otherTrace), { recursive: true });
    await writeFile(this.otherTrace, otherTrace());
  }

  /** Gives the workspace a folder like a Python environment, with these programs. */
  async addEnvironment(name: string, programs: Programs): Promise<void> {
    const folder = path.join(this.workspace, name, "bin");
    await mkdir(folder, { recursive: true });
    await writePrograms(folder, programs);
  }

  /** Makes the workspace name commands of its own, which say so when they are run. */
  async nameCommands(): Promise<void> {
    const tell = (name: string): string[] => ["/bin/sh", "-c", `touch ${quoted(path.join(this.ran, name))}`];
    const python = path.join(this.workspace, "python");
    await writeFile(python, `#!/bin/sh\n${tell("python")[2] ?? ""}\n`, { mode: 0o755 });
    await mkdir(path.join(this.workspace, ".vscode"));
    await writeFile(path.join(this.workspace, ".vscode", "settings.json"), JSON.stringify({
      "driveTrace.server.command": tell("command"),
      "driveTrace.server.python": python,
      "driveTrace.gates.mechanical": [tell("gate")[2]],
      "driveTrace.judge.model": "judge",
      "driveTrace.judge.modelCommand": tell("judge")[2],
    }));
    await writeFile(path.join(this.userData, "User", "settings.json"), JSON.stringify({
      ...this.editorSettings,
      "security.workspace.trust.enabled": true,
      "security.workspace.trust.startupPrompt": "never",
      "security.workspace.trust.banner": "never",
    }));
  }

  /** Which of the workspace's own commands have been run. */
  commandsRun(): Promise<string[]> {
    return readdir(this.ran);
  }

  /** Replaces the settings that stand beside the editor's own, as a person who edits the file. */
  async changeSettings(settings: Record<string, unknown>): Promise<void> {
    const file = path.join(this.userData, "Machine", "settings.json");
    await writeFile(file, JSON.stringify({ ...this.editorSettings, ...settings }));
  }

  private get editorSettings(): Record<string, unknown> {
    return { ...editorSettings, "workbench.activityBar.location": this.activityBar, "workbench.colorTheme": colorThemes[this.theme] };
  }

  /** `NAME=value` in the environment of every process that is started for this sandbox. */
  get mark(): string { return `${markName}=${this.root}`; }

  /** The whole environment of those processes: nothing of the machine's own leaks in. */
  get environment(): Record<string, string> {
    return {
      [markName]: this.root,
      HOME: this.home,
      LANG: "C.UTF-8",
      PATH: [this.bin, path.dirname(process.execPath), "/usr/bin", "/bin"].join(path.delimiter),
    };
  }

  get workspace(): string { return path.join(this.root, "workspace"); }
  get trace(): string { return path.join(this.workspace, "projects", "demo", "trace.jsonl"); }
  get otherTrace(): string { return path.join(this.workspace, "projects", "other", "trace.jsonl"); }
  get realTrace(): string { return path.join(this.workspace, "projects", "real", "trace.jsonl"); }
  get longTrace(): string { return path.join(this.workspace, "wip", "drive-trace", "orphan-long.jsonl"); }
  get home(): string { return path.join(this.root, "home"); }
  get extensions(): string { return path.join(this.root, "extensions"); }
  get userData(): string { return path.join(this.root, "data"); }
  get serverData(): string { return path.join(this.root, "server-data"); }
  /** For what has to be made before VS Code starts. */
  get workshop(): string { return path.join(this.root, "workshop"); }
  private get ran(): string { return path.join(this.root, "ran"); }
  private get bin(): string { return path.join(this.root, "bin"); }

  async remove(): Promise<void> {
    await rm(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

async function writePrograms(folder: string, programs: Programs): Promise<void> {
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(path.join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
}

/** A word as a shell reads it. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
