import * as vscode from "vscode";

import { link } from "../link";
import { type Place, showLine } from "./places";
import { Panels, type ViewKind } from "./webview";

/** The colours of the report are those of the theme; green stays CORRECT's alone. */
const style = `
:root{--bg:var(--vscode-editor-background);--ink:var(--vscode-editor-foreground);
--soft:var(--vscode-descriptionForeground);--panel:var(--vscode-textBlockQuote-background);
--line:color-mix(in srgb,var(--ink) 20%,var(--bg));
--correct:var(--vscode-charts-green);--correct-bg:color-mix(in srgb,var(--correct) 12%,var(--bg));
--incorrect:var(--vscode-charts-red);--incorrect-bg:color-mix(in srgb,var(--incorrect) 12%,var(--bg));
--unknown:var(--ink);--unknown-bg:color-mix(in srgb,var(--ink) 9%,var(--bg));
--warn:var(--ink);--warn-bg:color-mix(in srgb,var(--vscode-editorWarning-foreground) 22%,var(--bg));
--clock:var(--vscode-charts-blue);--on:var(--bg);--soon:var(--vscode-charts-yellow);
--claimed:var(--vscode-charts-purple);--focus:var(--vscode-textLink-foreground)}
body{padding:0;font:var(--vscode-font-size)/1.5 var(--vscode-font-family)}
.lack{position:sticky;top:0;z-index:1;margin:0;padding:.4rem 1.25rem}
.here rect{stroke:var(--ink);stroke-width:2}
[hidden]{display:none}
`;

/** What a page sends for a click or the Enter key; pages are not trusted to send it right. */
interface Jump {
  readonly uri?: unknown;
  readonly line?: unknown;
  /** Only the Enter key goes to the line: who clicks goes on with the keys of the page. */
  readonly takesFocus?: unknown;
}

/** The live preview of a run's report. */
class ReportView implements ViewKind {
  readonly type: string = "driveTrace.report";
  readonly style = style;

  title({ runId }: Place): string {
    return vscode.l10n.t("Report: {0}", shown(runId));
  }

  load({ uri, runId }: Place): Promise<object | undefined> {
    return link.ask("driveTrace/report", { uri, runId, format: "body" });
  }

  greet({ uri }: Place): object {
    const shows = ({ document }: vscode.TextEditor): boolean => link.uriOf(document) === uri;
    const line = vscode.window.visibleTextEditors.find(shows)?.selection.active.line;
    return { cursor: line === undefined ? null : { uri, line } };
  }

  receive(_: Place, message: unknown, column: vscode.ViewColumn | undefined): unknown {
    const { uri, line, takesFocus } = (message as { jump?: Jump } | undefined)?.jump ?? {};
    const isLine = typeof line === "number" && Number.isInteger(line) && line >= 0;
    const how = { kept: column, preserveFocus: takesFocus !== true };
    return typeof uri === "string" && isLine ? showLine(uri, line, how) : undefined;
  }
}

/** The timeline of a run alone, drawn by the same page. */
class TimelineView extends ReportView {
  override readonly type = "driveTrace.timeline";

  override title({ runId }: Place): string {
    return vscode.l10n.t("Timeline: {0}", shown(runId));
  }

  override load({ uri, runId }: Place): Promise<object | undefined> {
    return link.ask("driveTrace/timeline", { uri, runId });
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
  private readonly following = vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
    const uri = link.uriOf(textEditor.document);
    this.post(uri, { cursor: { uri, line: textEditor.selection.active.line } });
  });

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
