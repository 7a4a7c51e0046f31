import * as vscode from "vscode";

import { FollowTail } from "./follow-tail";
import { placeOf } from "./places";
import { ReportPanels } from "./report-panel";
import { RunsTree } from "./runs-tree";
import { StatusBar } from "./status-bar";
import { TimelinePanels } from "./timeline-panel";
import { appendEvent, recordVerdict } from "./writing";

/**
 * Commands, status bar and views; all that they show comes from the server, which `need` starts
 * for those that do not wait for a trace to be opened.
 */
export function registerViews(context: vscode.ExtensionContext, need: () => Promise<void>): void {
  const reports = new ReportPanels(context.extensionUri, need);
  const timelines = new TimelinePanels(context.extensionUri, need);
  new StatusBar(context);
  new RunsTree(context, need);
  new FollowTail(context);
  const command = (name: string, act: (given: unknown) => unknown): vscode.Disposable =>
    vscode.commands.registerCommand(`driveTrace.${name}`, act);
  context.subscriptions.push(
    reports,
    timelines,
    command("openReport", async (given) => {
      const place = await placeOf(given);
      if (place !== undefined) {
        reports.open(place);
      }
    }),
    command("openTimeline", async (given) => {
      const place = await placeOf(given);
      if (place !== undefined) {
        timelines.open(place);
      }
    }),
    command("recordVerdict", recordVerdict),
    command("appendEvent", appendEvent),
  );
}
