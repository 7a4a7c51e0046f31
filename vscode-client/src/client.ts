import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
  ResponseError,
  type ServerOptions,
  State,
  type StaticFeature,
  type WindowMiddleware,
} from "vscode-languageclient/node";

import { inBrowser } from "./language";
import { withActions } from "./lenses";
import { link } from "./link";
import { readSettings } from "./settings";

/**
 * Leaves it to `Server` to tell of a server that does not start, or ends.
 *
 * The library tells a failed start in up to four notifications (connection, write, initialization,
 * start), and an end in one for each message that is not sent any more, none of which says what to
 * do. They go to the log.
 */
class DriveTraceClient extends LanguageClient {
  override error(message: string, data?: unknown, notification: boolean | "force" = true): void {
    const isTold = this.state !== State.Running || message.startsWith("Sending ");
    super.error(message, data, !isTold && notification);
  }
}

/** Tells the server that the editor knows the modifier of a line's envelope: package.json has its colours. */
const envelope: StaticFeature = {
  fillClientCapabilities: ({ textDocument }) => {
    textDocument?.semanticTokens?.tokenModifiers.push("envelope");
  },
  initialize: () => undefined,
  getState: () => ({ kind: "static" }),
  clear: () => undefined,
};

/** Shows a Markdown file that the server has as its preview, not as source. */
const showDocument: NonNullable<WindowMiddleware["showDocument"]> = async (params, token, next) => {
  const uri = vscode.Uri.parse(params.uri);
  if (uri.scheme === "file" && uri.path.endsWith(".md")) {
    await vscode.commands.executeCommand("markdown.showPreview", uri);
    return { success: true };
  }
  const result = await next(params, token);
  return result instanceof ResponseError ? { success: false } : result;
};

/** A client, not yet started, of the server that `launch` starts, as `host` has it; `lost` is called where the connection is gone. */
export function createClient(
  launch: ServerOptions, log: vscode.LogOutputChannel, lost: () => void, host: Partial<LanguageClientOptions> = {},
): LanguageClient {
  const options: LanguageClientOptions = {
    ...host,
    documentSelector: inBrowser ? [{ language: "drive-trace" }] : [
      { language: "drive-trace", scheme: "file" },
      { language: "drive-trace", scheme: "untitled" },
      { language: "drive-trace", scheme: "git" }, // the old side of a diff
    ],
    outputChannel: log,
    // Behind the settings, which a workspace has a say in.
    initializationOptions: () => ({ ...readSettings().forServer, trusted: vscode.workspace.isTrusted }),
    initializationFailedHandler: () => false,
    middleware: { ...host.middleware, window: { showDocument }, executeCommand: link.takeOver, provideCodeLenses: withActions },
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => {
        lost();
        return { action: CloseAction.DoNotRestart, handled: true };
      },
    },
  };
  const client = new DriveTraceClient("driveTrace", "Drive Trace", launch, options);
  client.registerFeature(envelope);
  link.attach(client);
  return client;
}
