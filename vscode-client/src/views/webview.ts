import * as vscode from "vscode";

import { link } from "../link";
import { columnOfViews } from "./columns";
import { OneAtATime } from "./one-at-a-time";
import { isPlace, type Place } from "./places";
import { Soon } from "./display";

const pause = 250;

/** What a kind of view is: its page, and what it does with messages. */
export interface ViewKind {
  readonly type: string;
  readonly style: string;
  title(place: Place): string;
  /** What the page is to show now; undefined where there is nothing any more. */
  load(place: Place): Promise<object | undefined>;
  /** What a page is told once, when it begins. */
  greet?(place: Place): object;
  /** `column` is where the view is. */
  receive?(place: Place, message: unknown, column: vscode.ViewColumn | undefined): unknown;
}

/** What a page is sent: what it shows, or why there is nothing. */
type Answer = { readonly content: object } | { readonly lack: "gone" | "absent" | "starting" };

/** All views that are open, of any kind, as VS Code has them. */
const opened = new Set<vscode.WebviewPanel>();

/** A view where the others are, or beside what somebody works in. */
export function newPanel(type: string, title: string): vscode.WebviewPanel {
  const columns = [...opened].map(({ viewColumn }) => viewColumn);
  const column = columnOfViews(columns, vscode.window.activeTextEditor?.viewColumn);
  const where = { viewColumn: column ?? vscode.ViewColumn.Beside, preserveFocus: true };
  const panel = vscode.window.createWebviewPanel(type, title, where, { enableFindWidget: true });
  noted(panel);
  return panel;
}

function noted(panel: vscode.WebviewPanel): void {
  opened.add(panel);
  panel.onDidDispose(() => { opened.delete(panel); });
}

/** The open views of one kind, one a run of a trace. */
export class Panels<K extends ViewKind> implements vscode.Disposable {
  private readonly panels = new Map<string, Panel>();
  private readonly listening: vscode.Disposable[];

  constructor(
    private readonly extension: vscode.Uri,
    private readonly kind: K,
    private readonly need: () => Promise<void>,
  ) {
    this.listening = [
      link.onDidChange(({ uri }) => { this.changed(uri); }),
      link.onDidChangeHealth(() => { this.changed(null); }),
      vscode.window.registerWebviewPanelSerializer(kind.type, {
        deserializeWebviewPanel: (panel, state) => {
          this.restore(panel, state);
          return Promise.resolve();
        },
      }),
    ];
  }

  open(place: Place): void {
    const known = this.panels.get(keyOf(place));
    if (known !== undefined) {
      known.reveal();
      return;
    }
    this.add(place, newPanel(this.kind.type, this.kind.title(place)));
  }

  private changed(uri: string | null): void {
    this.panels.forEach((panel) => { panel.changed(uri); });
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
    const key = keyOf(place);
    const onClose = (): void => { this.panels.delete(key); };
    this.panels.set(key, new Panel(place, panel, this.kind, this.extension, onClose));
  }

  /** What the view is about that has the focus, if it is one of these. */
  active(): Place | undefined {
    return [...this.panels.values()].find(({ isActive }) => isActive)?.place;
  }

  /** Tells the views of a trace something. */
  post(uri: string, message: object): void {
    this.panels.forEach((panel) => { panel.post(uri, message); });
  }

  dispose(): void {
    this.listening.forEach((each) => { each.dispose(); });
    [...this.panels.values()].forEach((panel) => { panel.dispose(); });
  }
}

function keyOf({ uri, runId }: Place): string {
  return [uri, runId].join("\n");
}

class Panel {
  private readonly soon = new Soon(() => this.turns.request(), pause);
  private readonly turns = new OneAtATime(() => this.update());
  private isClosed = false;
  /** What the page shows; nothing is known of one that has just begun. */
  private text = "";

  constructor(
    readonly place: Place,
    private readonly panel: vscode.WebviewPanel,
    private readonly kind: ViewKind,
    extension: vscode.Uri,
    onClose: () => void,
  ) {
    panel.onDidDispose(() => {
      this.isClosed = true;
      this.soon.dispose();
      onClose();
    });
    this.show(vscode.Uri.joinPath(extension, "dist", "webview"));
  }

  private show(scripts: vscode.Uri): void {
    const { panel, kind, place } = this;
    const { webview } = panel;
    panel.title = kind.title(place);
    webview.options = { enableScripts: true, localResourceRoots: [scripts] };
    webview.onDidReceiveMessage((message: unknown) =>
      message === "ready" ? this.begin() : kind.receive?.(place, message, panel.viewColumn));
    const script = webview.asWebviewUri(vscode.Uri.joinPath(scripts, "report.js"));
    const words = {
      gone: vscode.l10n.t("There is no such run any more. It is shown again when there is."),
      absent: vscode.l10n.t("The Drive Trace server is not running. This view goes on when it is."),
      starting: vscode.l10n.t("The Drive Trace server is starting…"),
    };
    webview.html = page(script.toString(), { title: panel.title, style: kind.style, words }, place);
  }

  /** A page starts anew whenever it comes into view again, so one out of view is told nothing. */
  private begin(): Promise<void> {
    this.text = "";
    const greeting = this.kind.greet?.(this.place);
    if (greeting !== undefined) {
      void this.panel.webview.postMessage(greeting);
    }
    return this.turns.request(true);
  }

  get isActive(): boolean {
    return this.panel.active;
  }

  reveal(): void {
    this.panel.reveal(undefined, true);
  }

  changed(uri: string | null): void {
    if ((uri === null || uri === this.place.uri) && this.panel.visible) {
      this.soon.request();
    }
  }

  post(uri: string, message: object): void {
    if (uri === this.place.uri && this.panel.visible) {
      void this.panel.webview.postMessage(message);
    }
  }

  dispose(): void {
    this.panel.dispose();
  }

  private async update(): Promise<void> {
    const answer = await this.answer();
    const text = JSON.stringify(answer);
    if (text !== this.text && !this.isClosed) {
      void this.panel.webview.postMessage(answer);
      this.text = text;
    }
  }

  private async answer(): Promise<Answer> {
    const content = await this.kind.load(this.place);
    if (content !== undefined) {
      return { content };
    }
    const { health } = link;
    return { lack: health === "running" ? "gone" : health === "starting" ? "starting" : "absent" };
  }
}

/** A page that may run its one script and apply styles with its nonce, and may load nothing else. */
export function page(
  script: string,
  { title, style, words }: { readonly title: string; readonly style: string; readonly words: Readonly<Record<string, string>> },
  place: object,
): string {
  const data = { words, place };
  const nonce = crypto.randomUUID();
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  return `<!DOCTYPE html>
<html lang="${escaped(vscode.env.language)}">
<head>
<meta charset="utf-8">
<title>${escaped(title)}</title>
<meta http-equiv="Content-Security-Policy" content="${policy}">
<style nonce="${nonce}" id="sheet"></style>
<style nonce="${nonce}">${style}</style>
</head>
<body data-given="${escaped(JSON.stringify(data))}">
<script nonce="${nonce}" src="${escaped(script)}"></script>
</body>
</html>`;
}

/** Text as it stands in HTML, also in an attribute. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
