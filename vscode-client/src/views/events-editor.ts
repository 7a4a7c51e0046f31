import * as vscode from "vscode";

import { link } from "../link";
import type { EventRows } from "../protocol";
import { OneAtATime } from "./one-at-a-time";
import { editorFor, showLine, tellOfNoTrace } from "./places";
import { page } from "./webview";

/** What it is called in the tabs of VS Code, and in `package.json`. */
export const eventsView = "driveTrace.events";

/** In a trace of so many lines all rows are read again after an edit, as findings may have moved. */
const few = 5_000;

const style = `
html,body{height:100%;padding:0;margin:0;background:var(--vscode-editor-background)}
.main{display:grid;height:100%;grid-template:auto auto 1fr/1fr minmax(0,22rem);font:var(--vscode-font-size)/1.4 var(--vscode-font-family);color:var(--vscode-editor-foreground)}
.bar{grid-column:1/-1;display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;padding:.4rem .6rem}
.bar input[type=search]{flex:1 1 12rem}
.bar select{max-width:12rem}
.bar input[type=search],.bar select{padding:.2rem .4rem;color:var(--vscode-input-foreground);background:var(--vscode-input-background);border:1px solid var(--vscode-input-border,var(--vscode-contrastBorder,currentColor))}
.list{grid-row:3;overflow:auto;position:relative}
.rows{position:relative}
.row{display:grid;grid-template-columns:3rem 5rem 11rem 10rem 8rem 9rem minmax(4rem,1fr);gap:.6rem;padding:0 .6rem;box-sizing:border-box;align-items:center}
.rows .row{position:absolute;left:0;right:0;cursor:default}
.row span{overflow:hidden;white-space:nowrap;text-overflow:ellipsis}
.head{grid-row:2;font-weight:600;border-bottom:1px solid var(--vscode-panel-border,currentColor);overflow:hidden}
.line,.delta,.time{font-variant-numeric:tabular-nums}
.rows .event .event{font-weight:600}
.heading{font-weight:600;grid-template-columns:1fr;background:var(--vscode-editorWidget-background)}
.heading.level-2{padding-left:2rem}
.error .outcome,.invalid .event{color:var(--vscode-errorForeground)}
.rows [aria-selected=true]{background:var(--vscode-editor-selectionBackground);outline:1px solid var(--vscode-contrastActiveBorder,transparent);outline-offset:-1px}
.list:focus-visible,.details:focus-visible{outline:1px solid var(--vscode-focusBorder);outline-offset:-1px}
.details{grid-row:2/4;grid-column:2;overflow:auto;padding:0 .8rem;border-left:1px solid var(--vscode-panel-border,currentColor);overflow-wrap:anywhere}
.details h2{font-size:1.1em}
.details dt{font-weight:600;margin-top:.4rem}.details dd{margin:0}
.details .meaning{display:block;color:var(--vscode-descriptionForeground)}
.details pre{white-space:pre-wrap}
.link{font:inherit;padding:0;border:0;background:none;color:var(--vscode-textLink-foreground);text-decoration:underline;cursor:pointer}
`;

/** A trace as a list of events to read. It writes nothing. */
export class EventsEditor implements vscode.CustomTextEditorProvider {
  constructor(private readonly extension: vscode.Uri, private readonly need: () => Promise<void>) {}

  resolveCustomTextEditor(document: vscode.TextDocument, panel: vscode.WebviewPanel): void {
    const scripts = vscode.Uri.joinPath(this.extension, "dist", "webview");
    const { webview } = panel;
    webview.options = { enableScripts: true, localResourceRoots: [scripts] };
    const view = new View(document, panel);
    webview.onDidReceiveMessage((message: unknown) => view.receive(message));
    panel.onDidDispose(() => { view.dispose(); });
    const script = webview.asWebviewUri(vscode.Uri.joinPath(scripts, "events.js"));
    webview.html = page(script.toString(), { style, words: words() }, {});
    void this.need();
  }
}

class View {
  private readonly listening: vscode.Disposable[];
  private readonly turns = new OneAtATime(() => this.update());
  private readonly uri: string;
  private from = 0;
  private total = 0;
  private isReady = false;
  private isClosed = false;

  constructor(private readonly document: vscode.TextDocument, private readonly panel: vscode.WebviewPanel) {
    this.uri = link.uriOf(document);
    this.listening = [
      link.onDidChange(({ uri }) => {
        if (uri === null) {
          this.from = 0;
        }
        if (uri === null || uri === link.spell(this.uri)) {
          this.request();
        }
      }),
      vscode.workspace.onDidChangeTextDocument(({ document: changed, contentChanges }) => {
        if (changed === document) {
          const lines = contentChanges.map(({ range }) => range.start.line);
          this.from = this.total <= few ? 0 : Math.min(this.from, ...lines);
        }
      }),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor, kind }) => {
        if (textEditor.document === document && kind !== undefined) {
          this.post({ cursor: textEditor.selection.active.line });
        }
      }),
    ];
  }

  receive(message: unknown): unknown {
    if (message === "ready") {
      this.isReady = true;
      this.from = 0;
      return this.turns.request(true);
    }
    const { choose, open } = (message ?? {}) as { choose?: unknown; open?: unknown };
    if (isLine(choose)) {
      return this.chosen(choose);
    }
    return isLine(open) ? showLine(this.uri, open, { kept: this.panel.viewColumn }) : undefined;
  }

  dispose(): void {
    this.isClosed = true;
    this.listening.forEach((each) => { each.dispose(); });
  }

  private async chosen(line: number): Promise<void> {
    const beside = vscode.window.visibleTextEditors.find(({ document }) => document === this.document);
    if (beside !== undefined && line < this.document.lineCount) {
      const range = new vscode.Range(line, 0, line, 0);
      beside.selection = new vscode.Selection(range.start, range.end);
      beside.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    }
    this.post({ details: (await link.ask("driveTrace/event", { uri: this.uri, line })) ?? null });
  }

  private request(): void {
    if (this.isReady) {
      void this.turns.request();
    }
  }

  /** Reads the rows from the first line on that may have changed, page by page. */
  private async update(): Promise<void> {
    let next: number | null = this.from;
    this.from = Number.MAX_SAFE_INTEGER;
    while (next !== null && !this.isClosed) {
      const said: EventRows | null | undefined = await link.ask("driveTrace/events", { uri: this.uri, first: next });
      if (said === null || said === undefined) {
        this.from = 0;
        return;
      }
      this.post({ page: { from: next, rows: said.rows, isLast: said.next === null } });
      this.total = said.total;
      next = said.next;
    }
    this.from = this.total <= few ? 0 : this.total;
  }

  private post(message: object): void {
    if (!this.isClosed) {
      void this.panel.webview.postMessage(message);
    }
  }
}

function isLine(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}

function words(): Record<string, string> {
  return {
    events: vscode.l10n.t("Events"),
    details: vscode.l10n.t("The chosen event"),
    filter: vscode.l10n.t("Filter by text"),
    event: vscode.l10n.t("Event"),
    dispatch: vscode.l10n.t("Dispatch"),
    outcome: vscode.l10n.t("Outcome"),
    order: vscode.l10n.t("Order"),
    inOrder: vscode.l10n.t("in order"),
    longest: vscode.l10n.t("longest first"),
    problems: vscode.l10n.t("with problems"),
    grouped: vscode.l10n.t("by slice and dispatch"),
    line: vscode.l10n.t("Line"),
    delta: "Δt",
    within: vscode.l10n.t("Dispatch and round"),
    words: vscode.l10n.t("What it says"),
    time: vscode.l10n.t("Took (claimed)"),
  };
}

/** Opens the list of a trace's events in place of its text, or the text in place of the list. */
export async function openEvents(given: unknown): Promise<void> {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  if (input instanceof vscode.TabInputCustom && input.viewType === eventsView) {
    await vscode.commands.executeCommand("vscode.openWith", input.uri, "default");
    return;
  }
  const place = given as { uri?: unknown } | undefined;
  const uri = typeof place?.uri === "string" ? link.toUri(place.uri) : (await editorFor(given))?.document.uri;
  if (uri === undefined) {
    tellOfNoTrace();
  } else {
    await vscode.commands.executeCommand("vscode.openWith", uri, eventsView);
  }
}
