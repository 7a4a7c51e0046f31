import * as vscode from "vscode";
import type { ProvideCodeLensesSignature } from "vscode-languageclient/node";

/** What the server keeps with a lens: the one over a run's first line is of the kind `run`. */
interface LensData {
  readonly kind: string;
  readonly uri: string;
  readonly runId: string;
}

/** Puts what can be done with a run behind the verdict over it. */
export async function withActions(
  document: vscode.TextDocument, token: vscode.CancellationToken, next: ProvideCodeLensesSignature,
): Promise<vscode.CodeLens[] | null | undefined> {
  const lenses = document.uri.scheme === "git" ? [] : await next(document, token);
  return lenses?.flatMap((lens) => [lens, ...actions(lens)]);
}

function actions(lens: vscode.CodeLens): vscode.CodeLens[] {
  const { data } = lens as { data?: LensData };
  if (data?.kind !== "run") {
    return [];
  }
  const place = { uri: data.uri, runId: data.runId };
  const action = (title: string, command: string, tooltip: string): vscode.CodeLens =>
    new vscode.CodeLens(lens.range, { title, command, tooltip, arguments: [place] });
  return [
    action(vscode.l10n.t("report"), "driveTrace.openReport", vscode.l10n.t("Open the report of this run beside the trace")),
    action(vscode.l10n.t("events"), "driveTrace.openEvents", vscode.l10n.t("Read the events of this trace as a list")),
    action(vscode.l10n.t("timeline"), "driveTrace.openTimeline", vscode.l10n.t("Show when dispatches and rounds ran")),
    action(vscode.l10n.t("record"), "driveTrace.recordVerdict", vscode.l10n.t("Grade this run yourself")),
    action(vscode.l10n.t("gates…"), "driveTrace.runGates", vscode.l10n.t("Grade this run by the commands of its gates")),
    action(vscode.l10n.t("judge…"), "driveTrace.judgeRun", vscode.l10n.t("Have a model judge whether this run did what was meant")),
  ];
}
