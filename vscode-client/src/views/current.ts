import * as vscode from "vscode";

import { isWritten, language } from "../language";
import { link } from "../link";

/** Views that are each about a trace. */
export interface PlacedViews {
  /** What the view is about that has the focus, if it is one of these. */
  active(): Shown | undefined;
}

/** A trace in a view: the run that the view or its cursor is about, if any, and the line of its cursor. */
export interface Shown {
  readonly uri: string;
  readonly runId?: string | null;
  readonly line?: number;
}

/** A line, from 0, of a trace by its address. */
export interface Cursor {
  readonly uri: string;
  readonly line: number;
  /** Whether it is that of a text editor. */
  readonly isOfText?: boolean;
}

/** The list of events in place of a trace's text. */
export const eventsView = "driveTrace.events";

/** The trace that a person works on: in an editor, or in a view. */
class Current {
  private last: vscode.TextEditor | undefined;
  private views: readonly PlacedViews[] = [];
  private readonly changes = new vscode.EventEmitter<undefined>();

  readonly onDidChange = this.changes.event;

  private readonly moves = new vscode.EventEmitter<Cursor>();
  private readonly lines = new Map<string, number>();

  /** The cursor of a trace stands on a line, in an editor or in a view. */
  readonly onDidMove = this.moves.event;

  /** Follows what has the focus, and tells menus and keys whether there is a trace to act on. */
  watch(views: readonly PlacedViews[]): vscode.Disposable {
    this.views = views;
    const look = (): void => { this.look(); };
    look();
    return vscode.Disposable.from(
      this.changes,
      this.moves,
      vscode.window.onDidChangeTextEditorSelection(({ textEditor: { document, selection } }) => {
        if (isTrace(document)) {
          this.move({ uri: link.uriOf(document), line: selection.active.line, isOfText: true });
        }
      }),
      vscode.window.onDidChangeActiveTextEditor(look),
      vscode.window.onDidChangeVisibleTextEditors(look),
      vscode.window.tabGroups.onDidChangeTabs(look),
      vscode.window.tabGroups.onDidChangeTabGroups(look),
      // Which editors there are does not change when one gets another language.
      vscode.workspace.onDidOpenTextDocument(look),
    );
  }

  /** Tells all that show a trace where its cursor is. */
  move(cursor: Cursor): void {
    this.lines.set(cursor.uri, cursor.line);
    this.moves.fire(cursor);
  }

  /** Where the cursor of a trace was last. */
  lineOf(uri: string): number | undefined {
    return this.lines.get(uri);
  }

  /** What the view is about that has the focus. */
  get place(): Shown | undefined {
    return this.views.map((each) => each.active()).find((each) => each !== undefined);
  }

  /**
   * The editor of a trace that has the focus, or had it last and is still to be seen; while a view
   * has the focus, that of the view's trace.
   */
  get editor(): vscode.TextEditor | undefined {
    const { place } = this;
    const shown = vscode.window.visibleTextEditors.filter(({ document }) =>
      isTrace(document) && (place === undefined || link.uriOf(document) === place.uri));
    const active = vscode.window.activeTextEditor;
    const known = [active, this.last].find((editor) => editor !== undefined && shown.includes(editor));
    // An editor that was hidden and comes back is another object.
    return known ?? shown.find(({ document }) => document === this.last?.document) ?? shown[0];
  }

  private look(): void {
    const active = vscode.window.activeTextEditor;
    if (active !== undefined && isTrace(active.document)) {
      this.last = active;
      this.lines.set(link.uriOf(active.document), active.selection.active.line);
    }
    const hasTrace = this.editor !== undefined || isOurs(vscode.window.tabGroups.activeTabGroup.activeTab);
    void vscode.commands.executeCommand("setContext", "driveTrace.hasTrace", hasTrace);
    this.changes.fire(undefined);
  }
}

/** Whether a document is a trace to work on. The old side of a diff is none, though the server is told of it. */
export function isTrace({ languageId, uri }: vscode.TextDocument): boolean {
  return languageId === language && isWritten(uri);
}

function isOurs(tab: vscode.Tab | undefined): boolean {
  const input = tab?.input;
  return isEvents(input) || input instanceof vscode.TabInputWebview && /\bdriveTrace\.(report|timeline)$/.test(input.viewType);
}

/** Whether a tab is a list of events. */
export function isEvents(input: unknown): input is vscode.TabInputCustom {
  return input instanceof vscode.TabInputCustom && input.viewType === eventsView;
}

/** The one person in front of this window works on one trace at a time. */
export const current = new Current();
