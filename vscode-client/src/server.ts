import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { homedir } from "node:os";

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

import { createClient } from "./client";
import { findServer, missingServer } from "./server-command";
import { readSettings, serverPathSetting } from "./settings";

/** Milliseconds that a server may take to answer, and to end when it is asked to. */
const startPatience = 10_000;
const stopPatience = 2_000;

/**
 * The one server of this window.
 *
 * Starts, stops and messages to it take turns: a message to a server that is just being stopped
 * fails, and the client would show that to the user.
 */
export class Server {
  private client: LanguageClient | undefined;
  private process: ChildProcess | undefined;
  private turn: Promise<void> = Promise.resolve();

  constructor(private readonly log: vscode.OutputChannel) {}

  restart(): Promise<void> {
    return this.inTurn(async () => {
      await this.stopClient();
      await this.startClient();
    });
  }

  stop(): Promise<void> {
    return this.inTurn(() => this.stopClient());
  }

  private inTurn(step: () => Promise<void>): Promise<void> {
    this.turn = this.turn.then(step);
    return this.turn;
  }

  private async startClient(): Promise<void> {
    const setting = readSettings().serverPath;
    const server = await findServer(setting, {
      workspaceFolder: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath,
      home: homedir(),
      searchPath: process.env.PATH ?? "",
    });
    if (!server.found) {
      this.log.appendLine(`No server "${setting}". Looked for:`);
      server.tried.forEach((file) => { this.log.appendLine(`  ${file}`); });
      void this.reportMissing(setting);
      return;
    }
    this.log.appendLine(`Starting ${server.file} serve`);
    const command = `"${server.file} serve"`;
    const client = createClient(() => this.launch(server.file), this.log, () => {
      if (this.client === client) {
        void this.report(`${command} ended before it answered.`);
      }
    });
    this.client = client;
    await this.waitForStart(client, command);
  }

  private async launch(file: string): Promise<ChildProcess> {
    const child = spawn(file, ["serve"]);
    child.on("exit", (code, signal) => {
      this.log.appendLine(`The server has ended (${code ?? signal ?? "unknown"}).`);
    });
    await once(child, "spawn");
    this.process = child;
    return child;
  }

  /** Bounded: a program that never answers must not keep a later restart waiting. */
  private async waitForStart(client: LanguageClient, command: string): Promise<void> {
    const patience = new Promise<"silent">((resolve) => {
      setTimeout(resolve, startPatience, "silent");
    });
    try {
      if ((await Promise.race([client.start(), patience])) === "silent") {
        void this.report(`${command} has not answered in ${startPatience / 1000} seconds.`);
      }
    } catch {
      // The client has reported it.
    }
  }

  private async stopClient(): Promise<void> {
    const { client, process } = this;
    this.client = this.process = undefined;
    if (client?.isRunning()) {
      await client.dispose(stopPatience).catch((error: unknown) => {
        this.log.appendLine(`Stopping the server: ${String(error)}`);
      });
      setTimeout(() => process?.kill(), stopPatience);
    } else {
      process?.kill();
    }
  }

  private reportMissing(setting: string): Promise<void> {
    return this.report(missingServer(setting));
  }

  private async report(problem: string): Promise<void> {
    const ways: Record<string, () => unknown> = {
      "Open Setting": () =>
        vscode.commands.executeCommand("workbench.action.openSettings", serverPathSetting),
      "Show Log": () => { this.log.show(); },
      "Try Again": () => this.restart(),
    };
    const answer = await vscode.window.showErrorMessage(`Drive Trace: ${problem}`, ...Object.keys(ways));
    if (answer !== undefined) {
      await ways[answer]?.();
    }
  }
}
