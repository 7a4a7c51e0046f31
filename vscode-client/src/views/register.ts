import * as vscode from "vscode";

import { Comparing } from "./comparing";
import { current, eventsView } from "./current";
import { EventsEditor, openEvents, openEventsBeside } from "./events-editor";
import { exportRun } from "./exporting";
import { FollowTail } from "./follow-tail";
import { turnGrade } from "./grade-picker";
import { withServer } from "./needing";
import { offerNextEvent } from "./next-event";
import { type Place, placeOf } from "./places";
import { allRuns, type Kind, openAllRuns, Panels, report, shown, timeline } from "./report-panel";
import { RunsTree } from "./runs-tree";
import { ServerStatus } from "./server-status";
import { StatusBar } from "./status-bar";
import { appendEvent, fixRule, recordVerdict, undoGrade } from "./writing";

/**
 * Commands, status bar and views; all that they show comes from the server, which `need` starts
 * for those that do not wait for a trace to be opened.
 */
export function registerViews(context: vscode.ExtensionContext, need: () => Promise<void>): void {
  const panels = (kind: Kind): Panels => new Panels(context.extensionUri, kind, need);
  const [reports, timelines, pages] = [panels(report), panels(timeline), panels(allRuns)];
  const events = new EventsEditor(context.extensionUri, need);
  new ServerStatus(context);
  const runs = new RunsTree(context, need);
  new StatusBar(context, (run, uri) => { runs.reveal(run, uri); });
  new FollowTail(context);
  const comparing = new Comparing(() => runs.selection);
  const command = (name: string, act: (given: unknown, all: unknown) => Promise<void>): vscode.Disposable =>
    vscode.commands.registerCommand(`driveTrace.${name}`, (given, all) => withServer(need, () => act(given, all)));
  context.subscriptions.push(
    reports,
    timelines,
    pages,
    offerNextEvent(),
    current.watch([reports, timelines, events]),
    command("openReport", (given) => open(reports, given)),
    command("openAllRuns", () => openAllRuns(pages)),
    command("openTimeline", (given) => open(timelines, given)),
    command("openText", openText),
    command("recordVerdict", recordVerdict),
    command("undoGrade", undoGrade),
    vscode.commands.registerCommand("driveTrace.turnGrade", turnGrade),
    command("appendEvent", appendEvent),
    command("exportRun", exportRun),
    command("fixRule", fixRule),
    vscode.commands.registerCommand("driveTrace.selectForCompare", (given, all) => { comparing.select(given, all); }),
    command("compareWithSelected", (given, all) => comparing.compare(given, all)),
    command("openEvents", openEvents),
    command("openEventsBeside", openEventsBeside),
    vscode.window.registerCustomEditorProvider(eventsView, events, {
      webviewOptions: { retainContextWhenHidden: true },
    }),
  );
}

/** The report of a run as Markdown that can be read, searched and copied, and is no file. */
async function openText(given: unknown): Promise<void> {
  const place = await placeOf(given);
  if (place !== undefined) {
    const path = `/${shown(place.runId).replace(/[\\/]/g, "_")}.md`;
    const uri = vscode.Uri.from({ scheme: "drive-trace", path, query: JSON.stringify([place.uri, place.runId]) });
    await vscode.window.showTextDocument(uri, { preview: true, viewColumn: vscode.ViewColumn.Beside });
  }
}

async function open(views: { open(place: Place): void }, given: unknown): Promise<void> {
  const place = await placeOf(given);
  if (place !== undefined) {
    views.open(place);
  }
}
