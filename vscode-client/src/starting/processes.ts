import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import * as path from "node:path";
import { Worker } from "node:worker_threads";

import * as vscode from "vscode";
import { type LanguageClientOptions, PortMessageReader } from "vscode-languageclient/node";

import type { Host, Running } from "../server";
import { readSettings } from "../settings";
import { readBundle } from "./bundle";
import { type Choice, chooseServer, type Command } from "./choice";
import { ask, findProgram } from "./programs";
import { TextWriter, type Told } from "./wasm/messages";
import type { Places } from "./wasm/worker";
import type { WorkspacePython } from "./workspace-python";

/** What is to be known of the extension. */
export interface Home {
  readonly version: string;
  /** Where the server that the extension carries is. */
  readonly bundle: string;
  /** A folder that may be written to. */
  readonly storage: string;
}

/** Servers as processes of the machine, or in a worker where there is no Python. */
export class Processes implements Host {
  private worker: Worker | undefined;

  constructor(
    private readonly log: vscode.LogOutputChannel,
    private readonly home: Home,
    private readonly workspacePython: WorkspacePython,
  ) {}

  readonly options: Partial<LanguageClientOptions> = {
    middleware: { workspace: { didChangeWorkspaceFolders: (event, next) => {
      this.see(event.added);
      return next(event);
    } } },
  };

  async choose(): Promise<Choice> {
    const { serverCommand, python } = readSettings();
    const { version, bundle, storage } = this.home;
    const around = {
      workspaceFolders: vscode.workspace.workspaceFolders?.map(({ uri }) => uri.fsPath) ?? [],
      home: homedir(),
      searchPath: process.env.PATH ?? "",
    };
    const wishes = {
      command: serverCommand,
      python,
      environments: serverCommand.length === 0 ? await this.workspacePython.interpreters() : [],
      version,
      bundle: await readBundle(bundle),
      hasWebAssembly: existsSync(path.join(bundle, "wasm", "packages.bin")),
      cache: path.join(storage, "compiled"),
    };
    return chooseServer(wishes, {
      platform: process.platform,
      find: (name) => findProgram(name, around),
      // Somewhere that no workspace has put anything.
      ask: (file, args) => ask(file, args, bundle),
      note: (line) => { this.log.appendLine(line); },
    });
  }

  async launch({ file, args, inWebAssembly }: Command): Promise<Running> {
    if (inWebAssembly) {
      return this.launchWorker();
    }
    const child = spawn(file, [...args, "serve"], { cwd: homedir(), windowsHide: true });
    const ended = this.endOf(child);
    await once(child, "spawn");
    return { transports: child, ended, kill: () => { child.kill(); } };
  }

  private launchWorker(): Running {
    const { bundle, storage } = this.home;
    const given: Places = { packed: path.join(bundle, "wasm"), cache: storage };
    // The stack of a main thread ends at values that are nested 5,000 levels deep.
    const worker = new Worker(path.join(bundle, "..", "dist", "wasm.mjs"), { workerData: given, resourceLimits: { stackSizeMb: 256 } });
    const ended = this.endOf(worker).then(() => worker.emit("close")); // so that its reader learns of it
    this.worker = worker;
    this.see(vscode.workspace.workspaceFolders ?? []);
    const transports = { reader: new PortMessageReader(worker), writer: new TextWriter(worker) };
    return { transports, ended, kill: () => { void worker.terminate(); } };
  }

  private endOf(server: ChildProcess | Worker): Promise<void> {
    return new Promise((resolve) => {
      server.on("error", (error) => { this.log.appendLine(String(error)); });
      server.on("exit", (code, signal?: string) => {
        this.log.appendLine(`The server has ended (${code ?? signal ?? "unknown"}).`);
        resolve();
      });
    });
  }

  /** Lets the worker see folders of the workspace. */
  private see(folders: readonly vscode.WorkspaceFolder[]): void {
    const told: Told = { folders: folders.filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath) };
    this.worker?.postMessage(told);
  }
}
