import type { ChildProcess } from "node:child_process";

import * as vscode from "vscode";
import {
  CloseAction,
  LanguageClient,
  type LanguageClientOptions,
  type ServerOptions,
  State,
} from "vscode-languageclient/node";

import { link } from "./link";
import { readSettings } from "./settings";
import { showDocument } from "./show-document";

/**
 * Reports a failed start once.
 *
 * The library tells it in up to four notifications (connection, write, initialization, start),
 * none of which says what to do. They go to the log; `onFailedStart` speaks to the user.
 */
class DriveTraceClient extends LanguageClient {
  private starting = false;

  constructor(
    server: ServerOptions,
    options: LanguageClientOptions,
    private readonly onFailedStart: () => void,
  ) {
    super("driveTrace", "Drive Trace", server, options);
    this.onDidChangeState(({ newState }) => {
      this.starting = newState === State.Starting || (this.starting && newState !== State.Running);
    });
  }

  override error(message: string, data?: unknown, notification: boolean | "force" = true): void {
    super.error(message, data, this.state === State.Running && notification);
    if (notification !== false && this.starting) {
      this.starting = false;
      this.onFailedStart();
    }
  }
}

/** A client, not yet started, of the server process that `launch` starts. */
export function createClient(
  launch: () => Promise<ChildProcess>,
  log: vscode.OutputChannel,
  onFailedStart: () => void,
): LanguageClient {
  const options: LanguageClientOptions = {
    documentSelector: [
      { language: "drive-trace", scheme: "file" },
      { language: "drive-trace", scheme: "untitled" },
    ],
    outputChannel: log,
    // A function, so that a server started again after a crash gets the settings of that moment.
    initializationOptions: () => readSettings().forServer,
    initializationFailedHandler: () => false,
    middleware: { window: { showDocument }, executeCommand: link.takeOver },
    errorHandler: {
      error: (error, message, count) => usual.error(error, message, count),
      // A server that ends before it has answered once would only fail again.
      closed: () =>
        client.state === State.Running
          ? usual.closed()
          : { action: CloseAction.DoNotRestart, handled: true },
    },
  };
  const client = new DriveTraceClient(launch, options, onFailedStart);
  const usual = client.createDefaultErrorHandler();
  link.attach(client);
  return client;
}
