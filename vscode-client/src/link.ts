import * as vscode from "vscode";
import { type LanguageClient, State } from "vscode-languageclient/node";

import { respelled } from "./addresses";
import type { Changed, ReportBody, Requests } from "./protocol";

/** What is asked of the server, with the form of the report that the views show. */
type Results = Omit<Requests, "driveTrace/report"> & { "driveTrace/report": ReportBody };

/** How the server is: `absent` where it could not be started, or has ended. */
export type Health = "not needed" | "starting" | "running" | "absent";

/** There is no server to ask. */
export class NoServer extends Error {}

/** What the views know of the server: which may be another one after a restart, or none. */
class Link {
  private client: LanguageClient | undefined;
  private beginnings = 0;
  private isNeeded = false;
  private told: Health = "not needed";
  private readonly changes = new vscode.EventEmitter<Changed>();
  private readonly turns = new vscode.EventEmitter<Health>();

  /** A trace says something else now; also when a server has started. */
  readonly onDidChange = this.changes.event;

  readonly onDidChangeHealth = this.turns.event;

  /** The program that was started last, with its arguments. */
  program = "";

  /** Whether that runs in WebAssembly, as no Python was found. */
  inWebAssembly = false;

  attach(client: LanguageClient): void {
    this.client = client;
    client.onNotification("driveTrace/changed", ({ uri }: Changed) => {
      if (this.client === client) {
        this.changes.fire({ uri: uri && this.spell(uri) });
      }
    });
    client.onDidChangeState(({ newState }) => {
      if (this.client !== client) {
        return;
      }
      this.tell();
      if (newState !== State.Starting) {
        this.changes.fire({ uri: null });
      }
    });
  }

  get isRunning(): boolean {
    return this.client?.state === State.Running;
  }

  get health(): Health {
    if (this.isRunning) {
      return "running";
    }
    if (this.beginnings > 0 || this.client?.state === State.Starting) {
      return "starting";
    }
    return this.isNeeded ? "absent" : "not needed";
  }

  /** The version of the server that runs. */
  get version(): string {
    return this.client?.initializeResult?.serverInfo?.version ?? "";
  }

  /** Learns that a server is being started, until it has been, or could not be. */
  async follow(start: Promise<void>): Promise<void> {
    this.isNeeded = true;
    this.beginnings += 1;
    this.tell();
    try {
      await start;
    } finally {
      this.beginnings -= 1;
      this.tell();
    }
  }

  private tell(): void {
    const { health } = this;
    if (health !== this.told) {
      this.told = health;
      this.turns.fire(health);
    }
  }

  /** The server's answer; rejects with `NoServer`, or with what the server says against it. */
  async answer<M extends keyof Results>(method: M, params: object): Promise<Results[M]> {
    const said = await this.send<Results[M]>(method, params);
    return respelled(said, (uri) => this.spell(uri));
  }

  /** The same for who shows nothing where there is no answer. */
  async ask<M extends keyof Results>(method: M, params: object): Promise<Results[M] | undefined> {
    try {
      return await this.answer(method, params);
    } catch (error) {
      if (!(error instanceof NoServer)) {
        this.client?.outputChannel.appendLine(`${method}: ${String(error)}`);
      }
      return undefined;
    }
  }

  /** Has the server run a command of its own; rejects with what it says against it. */
  async run(command: string, argument: object): Promise<unknown> {
    return this.send("workspace/executeCommand", { command, arguments: [argument] });
  }

  private async send<R>(method: string, params: object): Promise<R> {
    const { client } = this;
    if (client?.state !== State.Running) {
      throw new NoServer(method);
    }
    try {
      return await client.sendRequest<R>(method, params);
    } catch (error) {
      // It may have ended meanwhile.
      throw this.client === client && this.isRunning ? error : new NoServer(method);
    }
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
    return this.addressOf(document.uri);
  }

  toUri(uri: string): vscode.Uri {
    return this.client?.protocol2CodeConverter.asUri(uri) ?? vscode.Uri.parse(uri);
  }

  /** An address as the client spells it, so that it can be compared: `file:///c%3A/…`. */
  spell(uri: string): string {
    return this.addressOf(this.toUri(uri));
  }

  private addressOf(uri: vscode.Uri): string {
    return this.client?.code2ProtocolConverter.asUri(uri) ?? uri.toString();
  }
}

/** The one server of this window has one link. */
export const link = new Link();
