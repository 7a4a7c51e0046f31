import * as vscode from "vscode";

import { link } from "../link";
import type { ReportFile } from "../protocol";
import { nameOf, placeOf } from "./places";
import { shown } from "./report-panel";
import { joined } from "./display";

/** Writes a run for the viewers of other tools, to a file that a person names. */
export async function exportRun(given: unknown): Promise<void> {
  const place = await placeOf(given);
  if (place === undefined) {
    return;
  }
  const targets = [
    { label: "OpenTelemetry", detail: vscode.l10n.t("JSON for Jaeger, Langfuse, Phoenix or a Collector"), format: "otlp" },
    { label: "Perfetto", detail: vscode.l10n.t("Chrome's trace event format, for ui.perfetto.dev, Speedscope or Firefox"), format: "perfetto" },
  ];
  const placeHolder = vscode.l10n.t("For which viewer is this run to be written?");
  const target = await vscode.window.showQuickPick(targets, { placeHolder, title: joined(shown(place.runId), nameOf(place.uri)) });
  const trace = link.toUri(place.uri);
  const name = trace.path.replace(/^.*\//, "").replace(/\.\w+$/, "");
  const file = target && (await vscode.window.showSaveDialog({
    ...(trace.scheme === "untitled" ? {} : { defaultUri: vscode.Uri.joinPath(trace, "..", `${name}.${target.format}.json`) }),
    filters: { JSON: ["json"] },
  }));
  if (target !== undefined && file !== undefined) {
    const said: object = await link.answer("driveTrace/report", { ...place, format: target.format });
    await vscode.workspace.fs.writeFile(file, new TextEncoder().encode((said as ReportFile).text));
    void vscode.window.showInformationMessage(vscode.l10n.t("Drive Trace: {0} was written.", nameOf(file.toString())));
  }
}
