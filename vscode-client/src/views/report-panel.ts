import * as vscode from "vscode";

import { link } from "../link";
import type { ReportBody } from "../protocol";
import { current } from "./current";
import { listsAlone, type Place, showLine } from "./places";
import { Panels, type ViewKind } from "./webview";

/** The colours of the report are those of the theme; green stays CORRECT's alone. */
export const themed = `
:root{--bg:var(--vscode-editor-background);--ink:var(--vscode-editor-foreground);
--soft:var(--vscode-descriptionForeground);--panel:var(--vscode-textBlockQuote-background);
--line:color-mix(in srgb,var(--ink) 20%,var(--bg));
--correct:color-mix(in srgb,var(--vscode-charts-green) 70%,var(--ink));--correct-bg:color-mix(in srgb,var(--correct) 12%,var(--bg));
--incorrect:color-mix(in srgb,var(--vscode-charts-red) 70%,var(--ink));--incorrect-bg:color-mix(in srgb,var(--incorrect) 12%,var(--bg));
--unknown:var(--ink);--unknown-bg:color-mix(in srgb,var(--ink) 9%,var(--bg));
--warn:var(--ink);--warn-bg:color-mix(in srgb,var(--vscode-editorWarning-foreground) 22%,var(--bg));
--clock:var(--vscode-charts-blue);--on:var(--bg);--soon:var(--vscode-charts-yellow);
--claimed:var(--vscode-charts-purple);--focus:var(--vscode-textLink-foreground)}
body{padding:0;font:var(--vscode-font-size)/1.5 var(--vscode-font-family)}
.lack{position:sticky;top:0;z-index:1;margin:0;padding:.4rem 1.25rem}
.here rect{stroke:var(--ink);stroke-width:2}
[hidden]{display:none}
.action{margin:.35rem .5rem 0 0;padding:.15rem .6rem;border:1px solid var(--vscode-button-border,transparent);
color:var(--vscode-button-secondaryForeground);background:var(--vscode-button-secondaryBackground)}
.action:hover{background:var(--vscode-button-secondaryHoverBackground)}
.fixable{display:flex;align-items:start;gap:1rem}
.fixable .action{margin:0}
`;

/** What a page sends for a click or the Enter key; pages are not trusted to send it right. */
interface Jump {
  readonly uri?: unknown;
  readonly line?: unknown;
  /** Of the page of all runs, where a click opens the report of a run. */
  readonly runId?: unknown;
  /** Only the Enter key goes to the line: who clicks goes on with the keys of the page. */
  readonly takesFocus?: unknown;
}

/** What a page sends for one of its buttons. */
interface Act {
  readonly do?: unknown;
  /** Where a rule's findings are to be fixed. */
  readonly uri?: unknown;
  readonly rule?: unknown;
}

/** The live preview of a run's report. */
class ReportView implements ViewKind {
  readonly type: string = "driveTrace.report";
  readonly style: string = themed;
  /** The traces that pages have been given links to: nothing else is shown or changed for them. */
  private readonly traces = new Set<unknown>();

  title({ runId }: Place): string {
    return vscode.l10n.t("Report: {0}", shown(runId));
  }

  async load(place: Place): Promise<object | undefined> {
    const report = await this.ask(place);
    report?.files.forEach(({ uri }) => this.traces.add(uri));
    return report;
  }

  protected ask({ uri, runId }: Place): Promise<ReportBody | undefined> {
    return link.ask("driveTrace/report", { uri, runId, format: "body" });
  }

  greet({ uri }: Place): object {
    const line = current.lineOf(uri);
    return { cursor: line === undefined ? null : { uri, line } };
  }

  receive(place: Place, message: unknown, column: vscode.ViewColumn | undefined): unknown {
    const { jump, act } = (message ?? {}) as { jump?: Jump; act?: Act };
    return act ? this.act(place, act, column) : this.jump(jump ?? {}, column);
  }

  private jump({ uri, line, runId, takesFocus }: Jump, column: vscode.ViewColumn | undefined): unknown {
    if (this.isGiven(uri) && typeof runId === "string") {
      return vscode.commands.executeCommand("driveTrace.openReport", { uri, runId });
    }
    const isLine = typeof line === "number" && Number.isInteger(line) && line >= 0;
    if (!this.isGiven(uri) || !isLine) {
      return undefined;
    }
    current.move({ uri, line });
    const isShown = takesFocus !== true && listsAlone(uri);
    return isShown ? undefined : showLine(uri, line, { kept: column, preserveFocus: takesFocus !== true });
  }

  private act(place: Place, { do: what, uri, rule }: Act, kept: vscode.ViewColumn | undefined): unknown {
    if (what === "fix") {
      return this.isGiven(uri) ? vscode.commands.executeCommand("driveTrace.fixRule", { uri, rule, kept }) : undefined;
    }
    const command = what === "record" ? "recordVerdict" : what === "judge" ? "judgeRun" : undefined;
    return command && vscode.commands.executeCommand(`driveTrace.${command}`, place);
  }

  private isGiven(uri: unknown): uri is string {
    return this.traces.has(uri);
  }
}

/** The timeline of a run alone, drawn by the same page. */
class TimelineView extends ReportView {
  override readonly type = "driveTrace.timeline";
  override readonly style = `${themed}main{max-width:none}`;

  override title({ runId }: Place): string {
    return vscode.l10n.t("Timeline: {0}", shown(runId));
  }

  protected override ask({ uri, runId }: Place): Promise<ReportBody | undefined> {
    return link.ask("driveTrace/timeline", { uri, runId });
  }
}

/** The page of all runs of a folder, of which the place names a trace and no run. */
class AllRunsView extends ReportView {
  override readonly type = "driveTrace.allRuns";
  override readonly style = `${themed}header,main,nav{max-width:none}`;

  override title(): string {
    return vscode.l10n.t("All Runs");
  }

  protected override ask({ uri }: Place): Promise<ReportBody | undefined> {
    return link.ask("driveTrace/report", { uri, format: "body" });
  }
}

/** A run's id in a title: on one line, and not too long. */
export function shown(runId: string): string {
  // eslint-disable-next-line no-control-regex -- these are what must not get into a title
  const plain = runId.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "�");
  return plain.length > 60 ? `${plain.slice(0, 59)}…` : plain;
}

/** Views that follow the cursor of the editors beside them. */
class FollowingPanels extends Panels<ReportView> {
  private readonly following = current.onDidMove((cursor) => { this.post(cursor.uri, { cursor }); });

  override dispose(): void {
    this.following.dispose();
    super.dispose();
  }
}

export class ReportPanels extends FollowingPanels {
  constructor(extension: vscode.Uri, need: () => Promise<void>) {
    super(extension, new ReportView(), need);
  }
}

export class TimelinePanels extends FollowingPanels {
  constructor(extension: vscode.Uri, need: () => Promise<void>) {
    super(extension, new TimelineView(), need);
  }
}

export class AllRunsPanels extends Panels<ReportView> {
  constructor(extension: vscode.Uri, need: () => Promise<void>) {
    super(extension, new AllRunsView(), need);
  }

  /** Of the one folder of the workspace with runs, or of the one that a person picks. */
  async openFolder(): Promise<void> {
    const { runs } = await link.answer("driveTrace/runs", { again: false });
    const folders = new Map(runs.toReversed().map((run) => [run.folder ?? "", run.files[0]?.uri ?? ""]));
    const names = [...folders.keys()];
    const name = names.length > 1
      ? await vscode.window.showQuickPick(names, { placeHolder: vscode.l10n.t("The runs of which folder?") })
      : names[0];
    const uri = name === undefined ? undefined : folders.get(name);
    if (uri !== undefined) {
      this.open({ uri, runId: "" });
    } else if (names.length === 0) {
      void vscode.window.showInformationMessage(vscode.l10n.t("Drive Trace: the workspace has no run yet."));
    }
  }
}
