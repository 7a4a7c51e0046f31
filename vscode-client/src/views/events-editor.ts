import * as vscode from "vscode";

import { link } from "../link";
import type { EventRows } from "../protocol";
import { current, eventsView, isEvents, type PlacedViews, type Shown } from "./current";
import { style } from "./events-style";
import { OneAtATime } from "./one-at-a-time";
import { editorFor, isPlace, showLine, tellOfNoTrace } from "./places";
import { runPage } from "./webview";

/** In a trace of so many lines all rows are read again after an edit, as findings may have moved. */
const few = 5_000;

/** A trace as a list of events to read. It writes nothing. */
export class EventsEditor implements vscode.CustomTextEditorProvider, PlacedViews {
  private readonly views = new Set<View>();

  constructor(private readonly extension: vscode.Uri, private readonly need: () => Promise<void>) {}

  resolveCustomTextEditor(document: vscode.TextDocument, panel: vscode.WebviewPanel): void {
    const view = new View(document, panel);
    this.views.add(view);
    panel.webview.onDidReceiveMessage((message: unknown) => view.receive(message));
    panel.onDidDispose(() => {
      this.views.delete(view);
      view.dispose();
    });
    runPage(panel.webview, this.extension, "events.js", vscode.l10n.t("Events"), [style], { words: words(), place: {} });
    void this.need();
  }

  active(): Shown | undefined {
    return [...this.views].find(({ isActive }) => isActive)?.place;
  }
}

class View {
  private readonly listening: vscode.Disposable[];
  private readonly turns = new OneAtATime(() => this.update());
  private readonly uri: string;
  /** The lines whose rows may be others now: from one, and up to another one where it is known. */
  private from = 0;
  private stop = Infinity;
  private total = 0;
  private isReady = false;
  private isClosed = false;
  private chosen: { line: number; runId: string | null } | undefined;

  constructor(private readonly document: vscode.TextDocument, private readonly panel: vscode.WebviewPanel) {
    this.uri = link.uriOf(document);
    this.listening = [
      link.onDidChange(({ uri }) => {
        if (uri === null) {
          this.readAll();
        }
        if (uri === null || uri === link.spell(this.uri)) {
          this.request();
        }
      }),
      link.onDidChangeHealth(() => { this.request(); }),
      vscode.workspace.onDidChangeTextDocument((change) => {
        if (change.document === document) {
          this.edited(change);
        }
      }),
      current.onDidMove(({ uri, line, isOfText }) => {
        // While somebody walks the list, the text follows, and comes late.
        const isFollowing = isOfText === true && panel.active;
        if (uri === this.uri && line !== this.chosen?.line && !isFollowing) {
          this.post({ cursor: line });
        }
      }),
    ];
  }

  get isActive(): boolean {
    return this.panel.active;
  }

  get place(): Shown {
    return { uri: this.uri, ...this.chosen };
  }

  receive(message: unknown): unknown {
    if (message === "ready") {
      this.isReady = true;
      this.readAll();
      this.post({ cursor: current.lineOf(this.uri) ?? 0 });
      this.turns.request(true);
      return undefined;
    }
    const { choose, look, open } = (message ?? {}) as { choose?: unknown; look?: unknown; open?: unknown };
    if (isLine(choose)) {
      this.lead(choose);
      return this.tell(choose, true);
    }
    if (isLine(look)) {
      return this.tell(look);
    }
    return isLine(open) ? showLine(this.uri, open, { kept: this.panel.viewColumn }) : undefined;
  }

  dispose(): void {
    this.isClosed = true;
    this.turns.dispose();
    this.listening.forEach((each) => { each.dispose(); });
  }

  private readAll(): void {
    [this.from, this.stop] = [0, Infinity];
  }

  private edited({ contentChanges, document }: vscode.TextDocumentChangeEvent): void {
    if (document.lineCount !== this.total) {
      this.stop = Infinity;
    }
    for (const { range, text } of contentChanges) {
      const { line } = range.start;
      this.from = Math.min(this.from, line);
      this.stop = Math.max(this.stop, line + text.split("\n").length);
    }
  }

  /** Has the text beside it go along. */
  private lead(line: number): void {
    const beside = vscode.window.visibleTextEditors.find(({ document }) => document === this.document);
    if (beside !== undefined && line < this.document.lineCount) {
      const range = new vscode.Range(line, 0, line, 0);
      beside.selection = new vscode.Selection(range.start, range.end);
      beside.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    }
  }

  private async tell(line: number, leads = false): Promise<void> {
    const details = (await link.ask("driveTrace/event", { uri: this.uri, line })) ?? null;
    this.chosen = { line, runId: details?.run ?? null };
    if (leads || this.panel.active) {
      current.move({ uri: this.uri, line });
    }
    this.post({ details });
  }

  private request(): void {
    if (this.isReady) {
      this.turns.request();
    }
  }

  /** Reads the rows that may have changed, page by page. */
  private async update(): Promise<void> {
    let next: number | null = this.from;
    const { stop } = this;
    this.from = Infinity;
    this.stop = 0;
    while (next !== null && next < stop && !this.isClosed) {
      const said: EventRows | null | undefined = await link.ask("driveTrace/events", { uri: this.uri, first: next });
      if (said === null || said === undefined) {
        this.readAll();
        if (link.health !== "running") {
          this.post({ lack: link.health === "starting" ? "starting" : "absent" });
        }
        return;
      }
      this.post({ page: { from: next, stop: said.next ?? said.total, rows: said.rows, isLast: said.next === null } });
      this.total = said.total;
      next = said.next;
    }
    if (this.total <= few) {
      this.readAll();
    }
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
    mark: "",
    rest: vscode.l10n.t("Envelope and raw line"),
    absent: vscode.l10n.t("The Drive Trace server is not running. This view goes on when it is."),
    starting: vscode.l10n.t("The Drive Trace server is starting…"),
    within: vscode.l10n.t("Dispatch and round"),
    words: vscode.l10n.t("What it says"),
    time: vscode.l10n.t("Took (claimed)"),
  };
}

/** Opens the list of a trace's events in place of its text, or the text in place of the list. */
export async function openEvents(given: unknown): Promise<void> {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  if (isEvents(input)) {
    const line = current.lineOf(link.spell(input.uri.toString())) ?? 0;
    await vscode.window.showTextDocument(input.uri, { preview: false, selection: new vscode.Range(line, 0, line, 0) });
    await replace(input.uri, isEvents);
    return;
  }
  const uri = await openList(given, vscode.ViewColumn.Active);
  if (uri !== undefined) {
    await replace(uri, (each) => each instanceof vscode.TabInputText);
  }
}

/** Closes the other form of a trace, which is in the same group; both have the one document. */
async function replace(uri: vscode.Uri, isOther: (input: unknown) => boolean): Promise<void> {
  const { tabs } = vscode.window.tabGroups.activeTabGroup;
  const isIts = ({ input }: vscode.Tab): boolean => isOther(input) && (input as vscode.TabInputText).uri.toString() === uri.toString();
  await vscode.window.tabGroups.close(tabs.filter((tab) => isIts(tab) && !tab.isDirty));
}

/** Opens the list beside the text. */
export async function openEventsBeside(given: unknown): Promise<void> {
  await openList(given, vscode.ViewColumn.Beside);
}

async function openList(given: unknown, column: vscode.ViewColumn): Promise<vscode.Uri | undefined> {
  const uri = isPlace(given) ? link.toUri(given.uri) : (await editorFor(given))?.document.uri;
  if (uri === undefined) {
    tellOfNoTrace();
  } else {
    await vscode.commands.executeCommand("vscode.openWith", uri, eventsView, column);
  }
  return uri;
}
