import * as vscode from "vscode";
import { type LanguageClient, State } from "vscode-languageclient/node";

import type { Changed, ReportBody, Requests } from "./protocol";

/** What is asked of the server, with the form of the report that the views show. */
type Results = Omit<Requests, "driveTrace/report"> & { "driveTrace/report": ReportBody };

/** What the views know of the server: which may be another one after a restart, or none. */
class Link {
  private client: LanguageClient | undefined;
  private readonly changes = new vscode.EventEmitter<Changed>();

  /** A trace says something else now; also when a server has started. */
  readonly onDidChange = this.changes.event;

  attach(client: LanguageClient): void {
    this.client = client;
    client.onNotification("driveTrace/changed", (changed: Changed) => {
      if (this.client === client) {
        this.changes.fire(changed);
      }
    });
    client.onDidChangeState(({ newState }) => {
      if (this.client === client && newState !== State.Starting) {
        this.changes.fire({ uri: null });
      }
    });
  }

  get isRunning(): boolean {
    return this.client?.state === State.Running;
  }

  /** The server's answer; undefined where there is no server, or it has none. */
  async ask<M extends keyof Results>(method: M, params: object): Promise<Results[M] | undefined> {
    if (!this.isRunning) {
      return undefined;
    }
    try {
      return await this.client?.sendRequest<Results[M]>(method, params);
    } catch (error) {
      this.client?.outputChannel.appendLine(`${method}: ${String(error)}`);
      return undefined;
    }
  }

  /** Has the server run a command of its own; rejects with what it says against it. */
  async run(command: string, argument: object): Promise<unknown> {
    return this.client?.sendRequest("workspace/executeCommand", { command, arguments: [argument] });
  }

  /** Shows a run in the live preview, where the server would write a file of it. */
  readonly takeOver = (
    command: string,
    given: unknown[],
    next: (command: string, given: unknown[]) => vscode.ProviderResult<unknown>,
  ): vscode.ProviderResult<unknown> =>
    command === "driveTrace.showRun"
      ? vscode.commands.executeCommand("driveTrace.openReport", ...given)
      : next(command, given);

  /** A document as the server knows it. */
  uriOf(document: vscode.TextDocument): string {
    return this.client?.code2ProtocolConverter.asUri(document.uri) ?? document.uri.toString();
  }

  toUri(uri: string): vscode.Uri {
    return this.client?.protocol2CodeConverter.asUri(uri) ?? vscode.Uri.parse(uri);
  }
}

/** The one server of this window has one link. */
export const link = new Link();
