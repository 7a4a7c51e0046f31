import * as vscode from "vscode";

import { link } from "../link";
import type { RunAt } from "../protocol";
import { current, isTrace } from "./current";
import { type Point, pointOf } from "./places";
import { joined, lookOf } from "./display";
import { OneAtATime } from "./one-at-a-time";

/** The verdict of the run under the cursor, in the status bar. */
export class StatusBar {
  private readonly item = vscode.window.createStatusBarItem("verdict", vscode.StatusBarAlignment.Right, 110);
  private readonly turns = new OneAtATime(() => this.update(), 80);

  /** Tells `found` the run as well, and the trace that the cursor is in. */
  constructor(context: vscode.ExtensionContext, private readonly found: (run: RunAt, uri: string) => void) {
    this.item.name = vscode.l10n.t("Drive Trace: verdict of the run");
    this.item.command = "driveTrace.openReport";
    context.subscriptions.push(
      this.item,
      this.turns,
      current.onDidChange(() => { this.turns.request(); }),
      current.onDidMove(() => { this.turns.request(); }),
      link.onDidChange(() => { this.turns.request(); }),
    );
    this.turns.request();
  }

  private async update(): Promise<void> {
    const point = shownPoint();
    const run = point && (await link.ask("driveTrace/runAt", point));
    if (point === undefined || !run) {
      this.item.hide();
    } else {
      this.show(run);
      this.found(run, link.spell(point.textDocument.uri));
    }
  }

  private show(run: RunAt): void {
    const { icon, color } = lookOf(run);
    const words = joined(run.headline, run.alone);
    this.item.text = `$(${icon}) ${words}`;
    // A screen reader reads the Markdown of the tooltip aloud otherwise.
    this.item.accessibilityInformation = { label: vscode.l10n.t("Run {0}: {1}", run.label, words), role: "button" };
    this.item.color = color === undefined ? undefined : new vscode.ThemeColor(color);
    // Not trusted, as it holds text of the trace: it may link, and not run commands.
    this.item.tooltip = new vscode.MarkdownString(run.card);
    this.item.show();
  }
}

/** While a view has the focus, its cursor counts, or that of the trace beside it. */
function shownPoint(): Point | undefined {
  const active = vscode.window.activeTextEditor;
  const { place, editor } = current;
  if (place?.line !== undefined) {
    return { textDocument: { uri: place.uri }, position: { line: place.line, character: 0 } };
  }
  return editor !== undefined && (active === undefined || isTrace(active.document)) ? pointOf(editor) : undefined;
}
