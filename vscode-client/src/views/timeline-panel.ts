import * as vscode from "vscode";

import { link } from "../link";
import type { Timeline } from "../protocol";
import { changeOf } from "../webview/change";
import { type Place, showLine } from "./places";
import { shown } from "./report-panel";
import { Panels, type ViewKind } from "./webview";

const style = `
html,body{height:100%}
:root{--names:clamp(110px,34vw,260px);--edge:var(--vscode-contrastActiveBorder,transparent);
--grid:var(--vscode-editorIndentGuide-background1,currentColor)}
body{margin:0;padding:0;display:flex;flex-direction:column;overflow:hidden;
font:var(--vscode-font-size)/20px var(--vscode-font-family);color:var(--vscode-editor-foreground)}
header{padding:6px 12px;display:flex;gap:12px;align-items:baseline;flex-wrap:wrap}
header strong{font-weight:600}
.lack,.empty{margin:0;padding:4px 12px}
.lack{border:1px solid var(--vscode-editorWarning-foreground);border-width:1px 0}
.soft{color:var(--vscode-descriptionForeground)}
.key{display:inline-block;width:14px;height:8px;margin:0 4px 0 8px}
.chart{position:relative;flex:1;min-height:0;display:flex;flex-direction:column}
.head{position:absolute;left:12px;top:0;width:calc(var(--names) - 20px);line-height:16px;display:flex;gap:8px;
justify-content:space-between;font-size:11px}
.head span:first-child{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.axis{position:relative;flex:none;height:24px;margin-left:var(--names);margin-right:14px;overflow:hidden;
color:var(--vscode-descriptionForeground);font-size:11px;outline-offset:-1px}
.axis:focus-visible,.rows:focus-visible{outline:1px solid var(--vscode-focusBorder)}
.tick{position:absolute;height:24px;line-height:16px;white-space:nowrap;padding-left:3px;border-left:1px solid var(--grid)}
.mark{position:absolute;bottom:0;width:3px;height:7px;cursor:pointer;background:currentColor}
.mark.chosen{height:12px;margin-left:-1px;width:5px;background:var(--vscode-editor-foreground)}
.edge{position:absolute;top:0;bottom:0;left:calc(var(--names) - 6px);width:5px;cursor:col-resize;touch-action:none}
.edge:hover{background:var(--vscode-sash-hoverBorder)}
.rows{position:relative;flex:1;overflow-y:scroll;overflow-x:hidden;outline-offset:-2px}
.fill{width:1px}
.row{position:absolute;left:0;right:0;top:0;height:24px;cursor:pointer;outline-offset:-1px}
.row:hover{background:var(--vscode-list-hoverBackground);outline:1px dashed var(--edge)}
.row.chosen{background:var(--vscode-list-inactiveSelectionBackground);outline:1px solid var(--edge)}
.rows:focus .row.chosen{background:var(--vscode-list-activeSelectionBackground);color:var(--vscode-list-activeSelectionForeground)}
.row.here{outline:1px dashed var(--vscode-editor-foreground)}
.row.here.chosen{box-shadow:inset 0 0 0 3px var(--edge)}
.label{position:absolute;left:12px;width:calc(var(--names) - 20px);line-height:24px;display:flex;gap:8px;white-space:nowrap}
.label span{overflow:hidden;text-overflow:ellipsis}
.rest{flex:1 9999 0;color:var(--vscode-descriptionForeground)}
.row.round .label{left:28px;width:calc(var(--names) - 36px)}
.rows:focus .chosen .rest{color:inherit}
.lane{position:absolute;left:var(--names);right:4px;top:2px;height:20px;overflow:hidden}
.chosen .lane{background:var(--vscode-editor-background)}
.lane span{position:absolute;top:3px;height:8px;box-sizing:border-box;border-radius:1px}
.row.round .lane .clock{top:4px;height:6px}
.clock{background:var(--vscode-charts-blue)}
.lane .claimed{top:13px;height:4px}
.claimed{background:var(--vscode-charts-purple)}
.lane .open{background:none;border:1px dashed var(--vscode-charts-blue)}
footer{padding:4px 12px;white-space:nowrap;overflow:hidden;text-overflow:ellipsis;color:var(--vscode-descriptionForeground);border-top:1px solid var(--vscode-panel-border,transparent)}
[hidden]{display:none!important}
`;

/** The dispatches and rounds of a run in time. */
class TimelineView implements ViewKind<Timeline> {
  readonly type = "driveTrace.timeline";
  readonly script = "timeline.js";
  readonly style = style;
  readonly words = {
    empty: vscode.l10n.t("This run has no dispatches yet."),
    lanes: vscode.l10n.t("Dispatches and rounds"),
    others: vscode.l10n.t("Other events"),
    clock: vscode.l10n.t("by the clock"),
    claimed: vscode.l10n.t("as claimed"),
    open: vscode.l10n.t("not ended"),
    untimed: vscode.l10n.t("no time is known"),
    round: vscode.l10n.t("round {0}"),
    unnamed: vscode.l10n.t("a dispatch that was not started"),
    keys: vscode.l10n.t("Arrows move, Enter jumps to the line, + and − zoom, 0 shows all, Shift+Tab goes to the other events"),
  };

  title({ runId }: Place): string {
    return vscode.l10n.t("Timeline: {0}", shown(runId));
  }

  load({ uri, runId }: Place): Promise<Timeline | undefined> {
    return link.ask("driveTrace/timeline", { uri, runId });
  }

  readonly change = changeOf;

  greet({ uri }: Place): object {
    return { cursor: cursorIn(uri) };
  }

  receive({ uri }: Place, message: unknown, column: vscode.ViewColumn | undefined): unknown {
    const line = (message as { jump?: unknown } | undefined)?.jump;
    const isLine = typeof line === "number" && Number.isInteger(line) && line >= 0;
    return isLine ? showLine(uri, line, false, column) : undefined;
  }
}

function cursorIn(uri: string): number | null {
  const shows = ({ document }: vscode.TextEditor): boolean => link.uriOf(document) === uri;
  return vscode.window.visibleTextEditors.find(shows)?.selection.active.line ?? null;
}

export class TimelinePanels extends Panels<TimelineView> {
  private readonly following: vscode.Disposable;

  constructor(extension: vscode.Uri, need: () => Promise<void>) {
    super(extension, new TimelineView(), need);
    this.following = vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
      this.post(link.uriOf(textEditor.document), { cursor: textEditor.selection.active.line });
    });
  }

  override dispose(): void {
    this.following.dispose();
    super.dispose();
  }
}
