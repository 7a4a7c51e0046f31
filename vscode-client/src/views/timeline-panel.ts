import * as vscode from "vscode";

import { link } from "../link";
import { type Place, showLine } from "./places";
import { shown } from "./report-panel";
import { Panels, type ViewKind } from "./webview";

const style = `
html,body{height:100%}
:root{--names:clamp(110px,34vw,260px)}
body{margin:0;padding:0;display:flex;flex-direction:column;overflow:hidden;
font:var(--vscode-font-size)/20px var(--vscode-font-family);color:var(--vscode-editor-foreground)}
header{padding:6px 12px;display:flex;gap:12px;align-items:baseline;flex-wrap:wrap}
header strong{font-weight:600}
.soft{color:var(--vscode-descriptionForeground)}
.key{display:inline-block;width:14px;height:8px;margin:0 4px 0 8px}
.axis{position:relative;height:20px;margin-left:var(--names);margin-right:14px;overflow:hidden;
color:var(--vscode-descriptionForeground);font-size:11px}
.axis span{position:absolute;white-space:nowrap;padding-left:3px;border-left:1px solid var(--vscode-editorIndentGuide-background1,currentColor)}
.axis button{all:unset;position:absolute;bottom:0;width:3px;height:6px;cursor:pointer;background:var(--vscode-descriptionForeground)}
.rows{position:relative;flex:1;overflow-y:scroll;overflow-x:hidden;outline-offset:-2px}
.rows:focus-visible{outline:1px solid var(--vscode-focusBorder)}
.fill{width:1px}
.row{position:absolute;left:0;right:0;top:0;height:24px;cursor:pointer}
.row:hover{background:var(--vscode-list-hoverBackground)}
.row.here{background:var(--vscode-editor-lineHighlightBackground,transparent);outline:1px dashed var(--vscode-editor-foreground);outline-offset:-1px}
.row.chosen{background:var(--vscode-list-inactiveSelectionBackground)}
.rows:focus .row.chosen{background:var(--vscode-list-activeSelectionBackground);color:var(--vscode-list-activeSelectionForeground)}
.label{position:absolute;left:12px;width:calc(var(--names) - 20px);line-height:24px;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.row.round .label{left:28px;width:calc(var(--names) - 36px);color:var(--vscode-descriptionForeground)}
.rows:focus .row.round.chosen .label{color:inherit}
.lane{position:absolute;left:var(--names);right:4px;top:0;height:24px;overflow:hidden}
.lane span{position:absolute;top:5px;height:8px;box-sizing:border-box;border-radius:1px}
.clock{background:var(--vscode-charts-blue)}
.lane .claimed{top:15px;height:4px}
.claimed{background:var(--vscode-charts-purple)}
.lane .open{background:none;border:1px dashed var(--vscode-charts-blue)}
.row.round .clock{opacity:.7}
footer{padding:4px 12px;white-space:nowrap;overflow:hidden;text-overflow:ellipsis;color:var(--vscode-descriptionForeground);border-top:1px solid var(--vscode-panel-border,transparent)}
[hidden]{display:none!important}
`;

/** The dispatches and rounds of a run in time. */
class TimelineView implements ViewKind {
  readonly type = "driveTrace.timeline";
  readonly script = "timeline.js";
  readonly style = style;
  readonly words = {
    gone: vscode.l10n.t("There is no such run any more, or the server is not running."),
    empty: vscode.l10n.t("This run has no dispatches yet."),
    lanes: vscode.l10n.t("Dispatches and rounds"),
    clock: vscode.l10n.t("by the clock"),
    claimed: vscode.l10n.t("as claimed"),
    open: vscode.l10n.t("not ended"),
    untimed: vscode.l10n.t("no time is known"),
    round: vscode.l10n.t("round {0}"),
    unnamed: vscode.l10n.t("a dispatch that was not started"),
    keys: vscode.l10n.t("Arrows move, Enter jumps to the line, + and − zoom, 0 shows all"),
  };

  title({ runId }: Place): string {
    return vscode.l10n.t("Timeline: {0}", shown(runId));
  }

  async load({ uri, runId }: Place): Promise<object | undefined> {
    const timeline = await link.ask("driveTrace/timeline", { uri, runId });
    return timeline && { ...timeline, cursor: cursorIn(uri) };
  }

  receive({ uri }: Place, message: unknown): unknown {
    const line = (message as { jump?: unknown } | undefined)?.jump;
    return typeof line === "number" && Number.isInteger(line) && line >= 0 ? showLine(uri, line) : undefined;
  }
}

function cursorIn(uri: string): number | null {
  const shows = ({ document }: vscode.TextEditor): boolean => link.uriOf(document) === uri;
  return vscode.window.visibleTextEditors.find(shows)?.selection.active.line ?? null;
}

export class TimelinePanels extends Panels<TimelineView> {
  private readonly following: vscode.Disposable;

  constructor(extension: vscode.Uri) {
    super(extension, new TimelineView());
    this.following = vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
      this.post(link.uriOf(textEditor.document), { cursor: textEditor.selection.active.line });
    });
  }

  override dispose(): void {
    this.following.dispose();
    super.dispose();
  }
}
