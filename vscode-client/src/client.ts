import type { ChildProcess } from "node:child_process";

import * as vscode from "vscode";
import {
  CloseAction,
  LanguageClient,
  type LanguageClientOptions,
  type ServerOptions,
  State,
} from "vscode-languageclient/node";

import { readSettings } from "./settings";
import { showDocument } from "./show-document";

/** What a client tells of its server. */
export interface Fate {
  /** It ended, or made no sense, before it had answered once. */
  failedToStart(): void;
  /** It ended by itself after it had answered. */
  ended(): void;
}

/**
 * Reports a failed start once.
 *
 * The library tells it in up to four notifications (connection, write, initialization, start),
 * none of which says what to do. They go to the log; `Fate` tells whoever speaks to the user.
 */
class DriveTraceClient extends LanguageClient {
  private starting = false;

  constructor(
    server: ServerOptions,
    options: LanguageClientOptions,
    private readonly fate: Fate,
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
      this.fate.failedToStart();
    }
  }
}

/** A client, not yet started, of the server process that `launch` starts. */
export function createClient(
  launch: () => Promise<ChildProcess>,
  log: vscode.OutputChannel,
  fate: Fate,
): LanguageClient {
  const options: LanguageClientOptions = {
    documentSelector: [
      { language: "drive-trace", scheme: "file" },
      { language: "drive-trace", scheme: "untitled" },
    ],
    outputChannel: log,
    initializationOptions: () => readSettings().forServer,
    initializationFailedHandler: () => false,
    middleware: { window: { showDocument } },
    errorHandler: {
      error: (error, message, count) => usual.error(error, message, count),
      closed: () => {
        if (client.state === State.Running) {
          fate.ended();
        }
        return { action: CloseAction.DoNotRestart, handled: true };
      },
    },
  };
  const client = new DriveTraceClient(launch, options, fate);
  const usual = client.createDefaultErrorHandler();
  return client;
}
