import { randomBytes } from "node:crypto";

import * as vscode from "vscode";

import { link } from "../link";
import type { Place } from "./places";
import { Soon } from "./telling";

const pause = 250;

/** What a kind of view is: its page, and what it does with messages. */
export interface ViewKind {
  readonly type: string;
  readonly script: string;
  readonly style: string;
  /** The words that the page shows. */
  readonly words: object;
  title(place: Place): string;
  /** What the page is to show now; undefined where there is nothing any more. */
  load(place: Place): Promise<object | undefined>;
  receive?(place: Place, message: unknown): unknown;
}

/** The open views of one kind, one a run of a trace. */
export class Panels<K extends ViewKind> implements vscode.Disposable {
  private readonly panels = new Map<string, Panel>();
  private readonly listening: vscode.Disposable;

  constructor(private readonly extension: vscode.Uri, private readonly kind: K) {
    this.listening = link.onDidChange(({ uri }) => {
      this.panels.forEach((panel) => { panel.changed(uri); });
    });
  }

  open(place: Place): void {
    const key = [place.uri, place.runId].join("\n");
    const known = this.panels.get(key);
    if (known !== undefined) {
      known.reveal();
      return;
    }
    const panel = new Panel(place, this.kind, this.extension, () => { this.panels.delete(key); });
    this.panels.set(key, panel);
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
    this.listening.dispose();
    [...this.panels.values()].forEach((panel) => { panel.dispose(); });
  }
}

class Panel {
  private readonly panel: vscode.WebviewPanel;
  private readonly soon = new Soon(() => this.update(), pause);
  private turn = 0;

  constructor(
    readonly place: Place,
    private readonly kind: ViewKind,
    extension: vscode.Uri,
    onClose: () => void,
  ) {
    const scripts = vscode.Uri.joinPath(extension, "dist", "webview");
    const where = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
    const options = { enableScripts: true, localResourceRoots: [scripts], enableFindWidget: true };
    this.panel = vscode.window.createWebviewPanel(kind.type, kind.title(place), where, options);
    this.panel.webview.onDidReceiveMessage((message: unknown) => {
      // A page starts anew whenever it comes into view again.
      return message === "ready" ? this.update() : kind.receive?.(place, message);
    });
    this.panel.onDidDispose(() => {
      this.soon.dispose();
      onClose();
    });
    const script = this.panel.webview.asWebviewUri(vscode.Uri.joinPath(scripts, kind.script));
    this.panel.webview.html = page(script.toString(), kind);
  }

  get isActive(): boolean {
    return this.panel.active;
  }

  reveal(): void {
    this.panel.reveal(undefined, true);
  }

  changed(uri: string | null): void {
    if (uri === null || uri === this.place.uri) {
      this.soon.request();
    }
  }

  post(uri: string, message: object): void {
    if (uri === this.place.uri) {
      void this.panel.webview.postMessage(message);
    }
  }

  dispose(): void {
    this.panel.dispose();
  }

  private async update(): Promise<void> {
    const turn = ++this.turn;
    const content = await this.kind.load(this.place);
    if (turn === this.turn) {
      void this.panel.webview.postMessage(content === undefined ? { isGone: true } : { content });
    }
  }
}

/** A page that may run its one script and apply styles with its nonce, and may load nothing else. */
function page(script: string, { style, words }: ViewKind): string {
  const nonce = randomBytes(16).toString("base64");
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  return `<!DOCTYPE html>
<html lang="${escaped(vscode.env.language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<style nonce="${nonce}" id="sheet"></style>
<style nonce="${nonce}">${style}</style>
</head>
<body data-words="${escaped(JSON.stringify(words))}">
<script nonce="${nonce}" src="${escaped(script)}"></script>
</body>
</html>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
