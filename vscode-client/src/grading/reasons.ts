import { realpath, stat } from "node:fs/promises";
import * as path from "node:path";

import * as vscode from "vscode";

import { link } from "../link";
import { showLine } from "../views/places";
import { shown } from "../views/report-panel";
import { joined } from "../views/display";
import { escaped, page } from "../views/webview";
import { type Piece, pieces } from "./citations";
import type { Subject } from "./program";
import { type Judged, plain } from "./words";

const open = "driveTrace.openCited";
const style = `
body{padding:0 1.25rem;font:var(--vscode-font-size)/1.5 var(--vscode-font-family)}
h1{font-size:1.3em}
.fail{color:var(--vscode-charts-red)}
.soft{color:var(--vscode-descriptionForeground)}
li{margin:.5rem 0;unicode-bidi:isolate;overflow-wrap:anywhere;white-space:pre-wrap}
a{color:var(--vscode-textLink-foreground)}
`;

/**
 * The reasons of a judgement, beside the trace.
 *
 * They are text of a model, which strangers may have led: the page runs and loads nothing, and its
 * links lead to lines of the trace and of files in the workspace, and nowhere else.
 */
export class Reasons implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private readonly comments = vscode.comments.createCommentController("driveTrace.reasons", vscode.l10n.t("Drive Trace: reasons of a judge"));
  private threads: readonly vscode.CommentThread[] = [];
  private readonly command = vscode.commands.registerCommand(open, (uri: unknown, line: unknown) =>
    typeof uri === "string" ? showLine(uri, Number(line) || 0, { preview: true, kept: this.panel?.viewColumn }) : undefined);

  async open(judged: Judged, subject: Subject, beside: vscode.ViewColumn | undefined): Promise<void> {
    const cited = await Promise.all(judged.reasons.map((reason) => citedIn(reason, subject)));
    this.panel?.dispose();
    this.threads = cited.flatMap((parts, index) => this.threadsOf(judged, judged.reasons[index] ?? "", parts));
    const title = vscode.l10n.t("Reasons: {0}", shown(subject.runId));
    const where = { viewColumn: (beside ?? vscode.ViewColumn.One) + 1, preserveFocus: true };
    const options = { enableScripts: false, enableCommandUris: [open], localResourceRoots: [], enableFindWidget: true };
    const panel = vscode.window.createWebviewPanel("driveTrace.reasons", title, where, options);
    this.panel = panel;
    panel.onDidDispose(() => {
      if (this.panel === panel) {
        this.panel = undefined;
        this.threads.forEach((each) => { each.dispose(); });
      }
    });
    panel.webview.html = page(title, [style], written(judged, subject, cited));
  }

  /** The reason as a comment on each line that it cites, for as long as the reasons are open. */
  private threadsOf({ intent, model }: Judged, reason: string, parts: readonly Cited[]): vscode.CommentThread[] {
    const places = new Map(parts.flatMap(({ uri, line }) => (uri === undefined || line === undefined ? [] : [[`${uri}#${line}`, { uri, line }]])));
    return [...places.values()].map(({ uri, line }) => {
      const body = new vscode.MarkdownString().appendText(reason);
      const comment = { body, mode: vscode.CommentMode.Preview, author: { name: plain(model, 80) } };
      const thread = this.comments.createCommentThread(link.toUri(uri), new vscode.Range(line - 1, 0, line - 1, 0), [comment]);
      thread.label = vscode.l10n.t("Judge: intent {0}", intent ?? "—");
      thread.canReply = false;
      return thread;
    });
  }

  dispose(): void {
    this.command.dispose();
    this.comments.dispose();
    this.panel?.dispose();
  }
}

function written({ intent, model, prompt_version, calibrated }: Judged, subject: Subject, reasons: readonly (readonly Cited[])[]): string {
  const items = reasons.map((parts) => `<li>${parts.map(linked).join("")}</li>`);
  const by = vscode.l10n.t("by {0}, prompt v{1}", model, prompt_version);
  const how = calibrated ? vscode.l10n.t("calibrated") : vscode.l10n.t("not calibrated");
  return `<h1 class="${escaped(intent ?? "")}">intent: ${escaped(intent ?? "—")}</h1>
<p class="soft">${escaped(joined(subject.run.label, by, how))}</p>
<ol>${items.join("")}</ol>`;
}

/** A part of a reason, with what it leads to if it leads to something. */
interface Cited extends Piece {
  readonly uri: string | undefined;
}

function citedIn(reason: string, subject: Subject): Promise<Cited[]> {
  return Promise.all(pieces(reason).map(async (piece) => ({ ...piece, uri: await targetOf(piece, subject) })));
}

function linked({ uri, text, line }: Cited): string {
  if (uri === undefined) {
    return escaped(text);
  }
  const given = encodeURIComponent(JSON.stringify([uri, (line ?? 1) - 1]));
  return `<a href="${escaped(`command:${open}?${given}`)}">${escaped(text)}</a>`;
}

/** Where a piece leads to: the trace, or a file that is there, and in the workspace whatever links there are. */
async function targetOf({ path: name, line }: Piece, { place, uri, folder }: Subject): Promise<string | undefined> {
  if (name === undefined) {
    return line === undefined ? undefined : place.uri;
  }
  const folders = vscode.workspace.workspaceFolders?.map((each) => each.uri.fsPath) ?? [];
  const names = [name, name.replace(/^[ab]\//, "")];
  for (const start of [folder, ...folders, path.dirname(uri.fsPath)]) {
    for (const each of names) {
      const file = path.resolve(start, each);
      if (await isIn(folders, file)) {
        return vscode.Uri.file(file).toString();
      }
    }
  }
  return undefined;
}

async function isIn(folders: readonly string[], file: string): Promise<boolean> {
  const isFile = await stat(file).then((found) => found.isFile(), () => false);
  const real = isFile ? await realpath(file) : undefined;
  const roots = await Promise.all(folders.map((each) => realpath(each).catch(() => undefined)));
  return real !== undefined && roots.some((root) => root !== undefined && real.startsWith(root + path.sep));
}
