import * as vscode from "vscode";

import { inBrowser, language } from "../language";
import { type Health, link } from "../link";
import { endOf, joined } from "./display";

/** How the server is, behind the name of the language: while there is none, nothing is checked. */
export class ServerStatus {
  private readonly server = vscode.languages.createLanguageStatusItem("driveTrace.server", { language });
  private readonly log = vscode.languages.createLanguageStatusItem("driveTrace.log", { language });

  constructor(context: vscode.ExtensionContext) {
    this.server.name = vscode.l10n.t("Drive Trace: server");
    this.server.command = { command: "driveTrace.restartServer", title: vscode.l10n.t("Restart") };
    this.log.name = vscode.l10n.t("Drive Trace: log");
    this.log.text = vscode.l10n.t("What the server does");
    this.log.command = { command: "driveTrace.showServerLog", title: vscode.l10n.t("Show Log") };
    context.subscriptions.push(this.server, this.log, link.onDidChangeHealth((health) => { this.show(health); }));
    this.show(link.health);
  }

  private show(health: Health): void {
    const texts: Record<Health, string> = {
      "not needed": vscode.l10n.t("The server is not started yet"),
      starting: vscode.l10n.t("The server is starting"),
      running: link.inWebAssembly
        ? inBrowser ? vscode.l10n.t("The server is running in WebAssembly") : vscode.l10n.t("The server is running in WebAssembly: no Python was found")
        : vscode.l10n.t("The server is running"),
      absent: vscode.l10n.t("The server is not running: nothing is checked"),
    };
    const { Error, Information } = vscode.LanguageStatusSeverity;
    this.server.text = texts[health];
    this.server.busy = health === "starting";
    this.server.severity = health === "absent" ? Error : Information;
    this.server.detail = health === "running" ? joined(link.version, link.inWebAssembly ? "" : endOf(link.program, 18)) : "";
  }
}
