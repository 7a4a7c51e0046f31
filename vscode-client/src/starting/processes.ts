import { spawn } from "node:child_process";
import { once } from "node:events";
import { homedir } from "node:os";
import * as path from "node:path";

import * as vscode from "vscode";

import type { Host, Running } from "../server";
import { readSettings } from "../settings";
import { asNode, readBundle, webAssembly } from "./bundle";
import { type Choice, chooseServer, type Command } from "./choice";
import { ask, findProgram } from "./programs";
import type { WorkspacePython } from "./workspace-python";

/** What is to be known of the extension. */
export interface Home {
  readonly version: string;
  /** Where the server that the extension carries is. */
  readonly bundle: string;
  /** A folder that may be written to. */
  readonly storage: string;
}

/** Servers as processes of the machine. */
export class Processes implements Host {
  constructor(
    private readonly log: vscode.LogOutputChannel,
    private readonly home: Home,
    private readonly workspacePython: WorkspacePython,
  ) {}

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
      webAssembly: webAssembly(bundle, storage),
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

  async launch({ file, args }: Command, ended: () => void): Promise<Running> {
    const child = spawn(file, [...args, "serve"], { cwd: homedir(), env: asNode(file), windowsHide: true });
    child.on("exit", (code, signal) => {
      this.log.appendLine(`The server has ended (${code ?? signal ?? "unknown"}).`);
      ended();
    });
    await once(child, "spawn");
    return {
      transports: child,
      hasEnded: () => child.exitCode !== null || child.signalCode !== null,
      kill: () => { child.kill(); },
    };
  }
}
