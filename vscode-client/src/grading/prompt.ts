import * as vscode from "vscode";

import { shown } from "../views/report-panel";
import { joined } from "../views/display";
import type { Subject } from "./program";
import { type Judged, plain } from "./words";

const scheme = "drive-trace-prompt";

/** Prompts as documents that can be read, and nothing else. */
export class Prompts implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly listening = vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(scheme, this),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => { this.texts.delete(uri.toString()); }),
  );
  private count = 0;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  async show(prompt: string, { runId }: Subject): Promise<void> {
    this.count += 1;
    const name = vscode.l10n.t("Prompt: {0}", shown(runId).replace(/[\\/]/g, "_"));
    const uri = vscode.Uri.from({ scheme, path: `/${name}`, query: String(this.count) });
    this.texts.set(uri.toString(), prompt);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.languages.setTextDocumentLanguage(document, "drive-trace-prompt");
    await vscode.window.showTextDocument(uri, { preview: true, viewColumn: vscode.ViewColumn.Beside });
  }

  dispose(): void {
    this.listening.dispose();
  }
}

/** What is sent where, as far as it can be told before. */
export interface Offer extends Judged {
  readonly prompt: string;
}

/** Whether it is to be sent, while the prompt can be read below. What nobody picks on purpose is no. */
export async function isToBeSent(offer: Offer, { label }: Subject): Promise<boolean> {
  const send = { label: vscode.l10n.t("Send"), detail: vscode.l10n.t("to {0}", destinationOf(offer)) };
  const keep = { label: vscode.l10n.t("Do Not Send") };
  const facts = factsOf(offer);
  const title = vscode.l10n.t("Judge {0}: is this prompt to be sent to {1}?", label, destinationOf(offer));
  const placeHolder = vscode.l10n.t("The prompt is shown below. Nothing has been sent.");
  const items = [keep, send, { label: "", kind: vscode.QuickPickItemKind.Separator }, ...facts];
  let picked: vscode.QuickPickItem | undefined;
  do {
    picked = await vscode.window.showQuickPick(items, { title, placeHolder, ignoreFocusOut: true });
  } while (picked !== undefined && facts.includes(picked));
  return picked === send;
}

function destinationOf({ destination }: Offer): string {
  return plain(destination ?? vscode.l10n.t("an unknown place"), 200);
}

function factsOf({ model, prompt_tokens, left_out = [], calibration = [] }: Offer): vscode.QuickPickItem[] {
  const tokens = vscode.l10n.t("about {0} tokens, estimated", (prompt_tokens ?? 0).toLocaleString(vscode.env.language));
  const lacks = calibration.map((each) => plain(each, 160)).join("; ");
  const omitted = left_out.slice(0, 5).map((each) => plain(each, 80)).join(", ");
  return [
    { label: joined(plain(model, 80), tokens) },
    lacks === ""
      ? { label: vscode.l10n.t("The judge is calibrated") }
      : { label: vscode.l10n.t("The judge is not calibrated"), detail: lacks },
    left_out.length === 0
      ? { label: vscode.l10n.t("Nothing is left out of the diff") }
      : { label: vscode.l10n.t("Left out of the diff: {0}", left_out.length), detail: left_out.length > 5 ? `${omitted}, …` : omitted },
  ];
}

/** A second question, where the verdict would be worth less than it looks. */
export async function isTakenUncalibrated({ calibration = [] }: Offer): Promise<boolean> {
  const record = vscode.l10n.t("Record with an Uncalibrated Judge");
  const question = vscode.l10n.t("This judge is not calibrated. Record its verdict all the same?");
  const detail = [
    ...calibration.map((each) => plain(each)),
    vscode.l10n.t("Nobody knows how often it agrees with people. Its verdict says so wherever it is shown."),
  ].join("\n\n");
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, record)) === record;
}
