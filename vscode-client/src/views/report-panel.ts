import * as vscode from "vscode";

import { link } from "../link";
import type { ReportBody } from "../protocol";
import { current, type Cursor } from "./current";
import { OneAtATime } from "./one-at-a-time";
import { isPlace, listsAlone, type Place, showLine } from "./places";
import { newPanel, noted, runPage } from "./webview";

const pause = 250; // milliseconds

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

/** What a page sends for a click, a key or one of its buttons; pages are not trusted to send it right. */
type Sent = Readonly<Record<string, unknown>>;

/** What the views of one kind show, in the same page. */
export interface Kind {
  readonly type: string;
  /** Beside the colours of the theme. */
  readonly style: string;
  title(place: Place): string;
  /** What the page is to show now; undefined where there is nothing any more. */
  load(place: Place): Promise<ReportBody | undefined>;
}

/** The live preview of a run's report. */
export const report: Kind = {
  type: "driveTrace.report",
  style: "",
  title: ({ runId }) => vscode.l10n.t("Report: {0}", shown(runId)),
  load: ({ uri, runId }) => link.ask("driveTrace/report", { uri, runId, format: "body" }),
};

export const timeline: Kind = {
  type: "driveTrace.timeline",
  style: "main{max-width:none}",
  title: ({ runId }) => vscode.l10n.t("Timeline: {0}", shown(runId)),
  load: ({ uri, runId }) => link.ask("driveTrace/timeline", { uri, runId }),
};

/** The page of all runs of a folder, of which the place names a trace and no run. */
export const allRuns: Kind = {
  type: "driveTrace.allRuns",
  style: "header,main,nav{max-width:none}",
  title: () => vscode.l10n.t("All Runs"),
  load: ({ uri }) => link.ask("driveTrace/report", { uri, format: "body" }),
};

/** The open views of one kind, one a run of a trace. They follow the cursor of the editors beside them. */
export class Panels implements vscode.Disposable {
  private readonly panels = new Map<string, Panel>();
  private readonly listening: vscode.Disposable;

  constructor(private readonly extension: vscode.Uri, private readonly kind: Kind, private readonly need: () => Promise<void>) {
    this.listening = vscode.Disposable.from(
      link.onDidChange(({ uri }) => { this.panels.forEach((each) => { each.changed(uri); }); }),
      link.onDidChangeHealth(() => { this.panels.forEach((each) => { each.changed(null); }); }),
      current.onDidMove((cursor) => { this.panels.forEach((each) => { each.follow(cursor); }); }),
      vscode.window.registerWebviewPanelSerializer(kind.type, {
        deserializeWebviewPanel: (panel, state) => {
          this.restore(panel, state);
          return Promise.resolve();
        },
      }),
    );
  }

  open(place: Place): void {
    const known = this.panels.get(keyOf(place));
    if (known === undefined) {
      this.add(place, newPanel(this.kind.type, ""));
    } else {
      known.panel.reveal(undefined, true);
    }
  }

  /** A view that was open when the window was closed, with the state that its page has kept. */
  private restore(panel: vscode.WebviewPanel, state: unknown): void {
    if (!isPlace(state) || this.panels.has(keyOf(state))) {
      panel.dispose();
      return;
    }
    void this.need();
    noted(panel);
    this.add({ uri: link.spell(state.uri), runId: state.runId }, panel);
  }

  private add(place: Place, panel: vscode.WebviewPanel): void {
    this.panels.set(keyOf(place), new Panel(place, panel, this.kind, this.extension));
    panel.onDidDispose(() => { this.panels.delete(keyOf(place)); });
  }

  /** What the view is about that has the focus, if it is one of these. */
  active(): Place | undefined {
    return [...this.panels.values()].find(({ panel }) => panel.active)?.place;
  }

  dispose(): void {
    this.listening.dispose();
    [...this.panels.values()].forEach(({ panel }) => { panel.dispose(); });
  }
}

function keyOf({ uri, runId }: Place): string {
  return [uri, runId].join("\n");
}

class Panel {
  private readonly turns = new OneAtATime(() => this.update(), pause);
  private isClosed = false;
  /** What the page shows; nothing is known of one that has just begun. */
  private text = "";
  /** The traces that the page has been given links to: nothing else is shown or changed for it. */
  private readonly traces = new Set<unknown>();

  constructor(readonly place: Place, readonly panel: vscode.WebviewPanel, private readonly kind: Kind, extension: vscode.Uri) {
    panel.onDidDispose(() => {
      this.isClosed = true;
      this.turns.dispose();
    });
    panel.title = kind.title(place);
    panel.webview.onDidReceiveMessage((message: unknown) => this.receive(message));
    const words = {
      gone: vscode.l10n.t("There is no such run any more. It is shown again when there is."),
      absent: vscode.l10n.t("The Drive Trace server is not running. This view goes on when it is."),
      starting: vscode.l10n.t("The Drive Trace server is starting…"),
    };
    runPage(panel.webview, extension, "report.js", panel.title, ["", themed + kind.style], { words, place });
  }

  changed(uri: string | null): void {
    if ((uri === null || uri === this.place.uri) && this.panel.visible) {
      this.turns.request();
    }
  }

  follow(cursor: Cursor): void {
    if (cursor.uri === this.place.uri && this.panel.visible) {
      void this.panel.webview.postMessage({ cursor });
    }
  }

  private async update(): Promise<void> {
    const content = await this.kind.load(this.place);
    content?.files.forEach(({ uri }) => this.traces.add(uri));
    const { health } = link;
    const answer = content ? { content } : { lack: health === "running" ? "gone" : health === "starting" ? "starting" : "absent" };
    const text = JSON.stringify(answer);
    if (text !== this.text && !this.isClosed) {
      void this.panel.webview.postMessage(answer);
      this.text = text;
    }
  }

  private receive(message: unknown): unknown {
    if (message === "ready") {
      // A page starts anew whenever it comes into view again, so one out of view is told nothing.
      this.text = "";
      const line = current.lineOf(this.place.uri);
      void this.panel.webview.postMessage({ cursor: line === undefined ? null : { uri: this.place.uri, line } });
      this.turns.request(true);
      return undefined;
    }
    const { jump, act } = (message ?? {}) as { jump?: Sent; act?: Sent };
    return act ? this.act(act) : this.jump(jump ?? {});
  }

  /** A click on a run of the page of all runs opens its report. Only the Enter key takes the focus along: who clicks goes on with the keys of the page. */
  private jump({ uri, line, runId, takesFocus }: Sent): unknown {
    if (this.isGiven(uri) && typeof runId === "string") {
      return vscode.commands.executeCommand("driveTrace.openReport", { uri, runId });
    }
    const isLine = typeof line === "number" && Number.isInteger(line) && line >= 0;
    if (!this.isGiven(uri) || !isLine) {
      return undefined;
    }
    current.move({ uri, line });
    const isShown = takesFocus !== true && listsAlone(uri);
    return isShown ? undefined : showLine(uri, line, { kept: this.panel.viewColumn, preserveFocus: takesFocus !== true });
  }

  private act({ do: what, uri, rule }: Sent): unknown {
    if (what === "fix") {
      const kept = this.panel.viewColumn;
      return this.isGiven(uri) ? vscode.commands.executeCommand("driveTrace.fixRule", { uri, rule, kept }) : undefined;
    }
    const command = what === "record" ? "recordVerdict" : what === "judge" ? "judgeRun" : undefined;
    return command && vscode.commands.executeCommand(`driveTrace.${command}`, this.place);
  }

  private isGiven(uri: unknown): uri is string {
    return this.traces.has(uri);
  }
}

/** Opens the page of the one folder of the workspace with runs, or of the one that a person picks. */
export async function openAllRuns(panels: Panels): Promise<void> {
  const { runs } = await link.answer("driveTrace/runs", { again: false });
  const folders = new Map(runs.toReversed().map((run) => [run.folder ?? "", run.files[0]?.uri ?? ""]));
  const names = [...folders.keys()];
  const name = names.length > 1
    ? await vscode.window.showQuickPick(names, { placeHolder: vscode.l10n.t("The runs of which folder?") })
    : names[0];
  const uri = name === undefined ? undefined : folders.get(name);
  if (uri !== undefined) {
    panels.open({ uri, runId: "" });
  } else if (names.length === 0) {
    void vscode.window.showInformationMessage(vscode.l10n.t("Drive Trace: the workspace has no run yet."));
  }
}

/** A run's id in a title: on one line, and not too long. */
export function shown(runId: string): string {
  // eslint-disable-next-line no-control-regex -- these are what must not get into a title
  const plain = runId.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "�");
  return plain.length > 60 ? `${plain.slice(0, 59)}…` : plain;
}
