import type { ChildProcess } from "node:child_process";

import * as vscode from "vscode";
import type { LanguageClient, LanguageClientOptions, MessageTransports } from "vscode-languageclient/node";

import { createClient } from "./client";
import { link } from "./link";
import { readSettings } from "./settings";
import { pauseAfter, recent } from "./starting/back-off";
import type { Choice, Command } from "./starting/choice";
import { commandSetting } from "./starting/wording";

/** Milliseconds that a server may take to answer, and to end when it is asked to. */
const startPatience = 10_000;
const startPatienceInWebAssembly = 60_000; // of work it has three seconds, and the machine may be busy
const stopPatience = 2_000;

/** Where servers run: as processes of the machine, or in a worker of the browser. */
export interface Host {
  /** What the client has to be like there. */
  readonly options?: Partial<LanguageClientOptions>;
  choose(): Promise<Choice>;
  launch(command: Command): Promise<Running>;
}

/** A server that was started. */
export interface Running {
  readonly transports: ChildProcess | MessageTransports;
  /** Comes when it is gone. */
  readonly ended: Promise<unknown>;
  kill(): void;
}

/**
 * The one server of this window.
 *
 * Starts, stops and messages to it take turns: a message to a server that is just being stopped
 * fails, and the client would show that to the user.
 */
export class Server {
  private client: LanguageClient | undefined;
  /** The client again, once its server has answered, and until that is gone or to be stopped. */
  private answered: LanguageClient | undefined;
  private running: Running | undefined;
  private command: Command | undefined;
  /** Whether it was started in a workspace that is trusted, which it is told at its start. */
  private trusted = false;
  private turn: Promise<void> = Promise.resolve();
  /** Whether somebody has needed it, or it was started early. */
  private wanted = false;
  /** Whether it was to be started early: until then settings and trust may change as they like. */
  private begun = false;
  private ends: number[] = [];
  private recovery: NodeJS.Timeout | undefined;

  constructor(
    private readonly log: vscode.LogOutputChannel,
    private readonly host: Host,
  ) {}

  /** The program that was started, for who runs another of its commands. */
  get program(): Command | undefined {
    return this.command;
  }

  /** Starts it, if nobody has yet. */
  start(): Promise<void> {
    if (this.wanted) {
      return this.turn;
    }
    this.wanted = true;
    return link.follow(this.inTurn(async () => {
      if (this.client === undefined) {
        await this.startClient(await this.host.choose());
      }
    }));
  }

  /** Starts it before anybody needs it; where there is none to start, that is told when one does. */
  startEarly(): Promise<void> {
    this.begun = true;
    return this.inTurn(async () => {
      if (!this.wanted) {
        await this.startIfFound(await this.host.choose());
      }
    });
  }

  restart(): Promise<void> {
    this.ends = [];
    return this.startAgain();
  }

  /** Restarts it where something has changed and another one would be started now, or none runs. */
  async startOtherwise(): Promise<void> {
    if (this.wanted) {
      await link.follow(this.inTurn(() => this.changeServer()));
    } else if (this.begun) {
      await this.startEarly();
    }
  }

  private async changeServer(): Promise<void> {
    const choice = await this.host.choose();
    if (choice.found && this.answered !== undefined && this.isRunning(choice.command)) {
      this.log.appendLine("What has changed asks for no other server.");
      return;
    }
    this.ends = [];
    clearTimeout(this.recovery);
    await this.stopClient();
    await this.startClient(choice);
  }

  private async startIfFound(choice: Choice): Promise<void> {
    if (choice.found && this.client === undefined) {
      this.wanted = true;
      await link.follow(this.startClient(choice));
    }
  }

  /** The extension's own server is the same on any Python, if none is asked for. */
  private isRunning(command: Command): boolean {
    if (this.trusted !== vscode.workspace.isTrusted) {
      return false;
    }
    const isOwn = command.isOwn && this.command?.isOwn === true && readSettings().python === "";
    return isOwn || JSON.stringify(command) === JSON.stringify(this.command);
  }

  stop(): Promise<void> {
    clearTimeout(this.recovery);
    return this.inTurn(() => this.stopClient());
  }

  private startAgain(): Promise<void> {
    this.wanted = true;
    clearTimeout(this.recovery);
    return link.follow(this.inTurn(async () => {
      await this.stopClient();
      await this.startClient(await this.host.choose());
    }));
  }

  /** A step that fails is told, and keeps none of those after it from being taken. */
  private inTurn(step: () => Promise<void>): Promise<void> {
    this.turn = this.turn.then(step).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      void this.report(vscode.l10n.t("The server could not be started: {0}", reason), commandSetting);
    });
    return this.turn;
  }

  private async startClient(choice: Choice): Promise<void> {
    if (!choice.found) {
      const { text, setting } = choice.problem;
      void this.report(text, setting);
      return;
    }
    const shown = [choice.command.file, ...choice.command.args, "serve"].join(" ");
    this.log.appendLine(`Starting ${shown}`);
    link.program = shown;
    link.inWebAssembly = choice.command.inWebAssembly;
    let own: Running | undefined; // whichever runs when this one is lost
    const client = createClient(async () => {
      own = await this.launch(client, choice.command);
      return own.transports;
    }, this.log, () => own?.kill(), this.host.options);
    this.client = client;
    this.command = choice.command;
    this.trusted = vscode.workspace.isTrusted;
    await this.waitForStart(client, shown, choice.command.inWebAssembly ? startPatienceInWebAssembly : startPatience);
  }

  private async launch(client: LanguageClient, command: Command): Promise<Running> {
    const running = await this.host.launch(command);
    if (this.client === client) {
      this.running = running;
    } else {
      running.kill(); // too late
    }
    return running;
  }

  /** Bounded: a program that never answers must not keep a later restart waiting. */
  private async waitForStart(client: LanguageClient, shown: string, milliseconds: number): Promise<void> {
    const patience = new Promise<"silent">((resolve) => {
      setTimeout(resolve, milliseconds, "silent");
    });
    const answered = client.start().then(() => { this.greet(client); });
    try {
      if ((await Promise.race([answered, patience])) === "silent") {
        const text = vscode.l10n.t('"{0}" has not answered in {1} seconds.', shown, milliseconds / 1000);
        void this.report(text, commandSetting);
      }
    } catch {
      if (this.client === client) {
        void this.report(vscode.l10n.t('"{0}" ended before it answered.', shown), commandSetting);
      }
    }
  }

  private greet(client: LanguageClient): void {
    if (this.client === client) { // else it is too late: another one has taken its place
      this.answered = client;
      void this.running?.ended.then(() => { this.recover(client); });
    }
  }

  private recover(client: LanguageClient): void {
    if (client !== this.answered) {
      return;
    }
    this.answered = undefined;
    this.ends.push(Date.now());
    const pause = pauseAfter(this.ends);
    if (pause === undefined) {
      void this.reportEnds();
      return;
    }
    this.log.appendLine(`Starting it again in ${pause / 1000} s.`);
    this.recovery = setTimeout(() => { void this.startAgain(); }, pause);
  }

  private async stopClient(): Promise<void> {
    const { client, running } = this;
    this.client = this.answered = this.running = this.command = undefined;
    if (client?.isRunning()) {
      await client.dispose(stopPatience).catch((error: unknown) => {
        this.log.appendLine(`Stopping the server: ${String(error)}`);
      });
      setTimeout(() => running?.kill(), stopPatience);
    } else {
      running?.kill();
    }
  }

  private report(problem: string, setting: string): Promise<void> {
    this.log.appendLine(problem);
    return this.offer(problem, [
      [vscode.l10n.t("Open Setting"), () => openSetting(setting)],
      [vscode.l10n.t("Show Log"), () => { this.log.show(); }],
      [vscode.l10n.t("Try Again"), () => this.restart()],
    ]);
  }

  private reportEnds(): Promise<void> {
    const problem = vscode.l10n.t(
      "the server has ended {0} times in a short time, and is not started again. Until it is, no trace is checked.",
      recent(this.ends).length,
    );
    return this.offer(problem, [
      [vscode.l10n.t("Show Log"), () => { this.log.show(); }],
      [vscode.l10n.t("Restart"), () => this.restart()],
    ]);
  }

  private async offer(problem: string, ways: readonly (readonly [string, () => unknown])[]): Promise<void> {
    const answer = await vscode.window.showErrorMessage(`Drive Trace: ${problem}`, ...ways.map(([name]) => name));
    await ways.find(([name]) => name === answer)?.[1]();
  }
}

/** What names a program is a setting of the machine that the server runs on. */
function openSetting(name: string): Thenable<unknown> {
  return vscode.env.remoteName === undefined
    ? vscode.commands.executeCommand("workbench.action.openSettings", name)
    : vscode.commands.executeCommand("workbench.action.openRemoteSettings", { query: name });
}
