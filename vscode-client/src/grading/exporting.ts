import * as path from "node:path";

import * as vscode from "vscode";

import { type Program, subjectOf } from "./program";

/** Writes the runs of a trace for the viewers of other tools, to a file that a person names. */
export async function exportRun(given: unknown, program: Program): Promise<void> {
  const subject = await subjectOf(given);
  if (subject === undefined) {
    return;
  }
  const targets = [
    { label: "OpenTelemetry", detail: vscode.l10n.t("JSON for Jaeger, Langfuse, Phoenix or a Collector"), to: "otlp" },
    { label: "Perfetto", detail: vscode.l10n.t("Chrome's trace event format, for ui.perfetto.dev, Speedscope or Firefox"), to: "perfetto" },
  ];
  const placeHolder = vscode.l10n.t("For which viewer are the runs of this trace to be written?");
  const target = await vscode.window.showQuickPick(targets, { placeHolder, title: subject.label });
  const name = `${path.parse(subject.file).name}.${target?.to ?? ""}.json`;
  const file = target && (await vscode.window.showSaveDialog({
    defaultUri: vscode.Uri.file(path.join(path.dirname(subject.file), name)), filters: { JSON: ["json"] },
  }));
  if (target === undefined || file === undefined) {
    return;
  }
  const title = vscode.l10n.t("Drive Trace: exporting {0}", subject.label);
  const ended = await program.run(["export", subject.file, `--to=${target.to}`, `--out=${file.fsPath}`], subject, title);
  if (ended?.code === 0) {
    void vscode.window.showInformationMessage(vscode.l10n.t("Drive Trace: {0} was written.", path.basename(file.fsPath)));
  } else if (ended !== undefined) {
    await program.tellOfFailure(ended);
  }
}
