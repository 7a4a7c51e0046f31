import * as vscode from "vscode";

import { current } from "./current";
import { editorFor, tellOfNoTrace } from "./places";
import { isAppended } from "./display";

/** Keeps the end of a trace in view while others append to it. */
export class FollowTail {
  /** The traces that are followed, with the lines that they had. */
  private readonly followed = new Map<string, number>();

  constructor(context: vscode.ExtensionContext) {
    context.subscriptions.push(
      vscode.commands.registerCommand("driveTrace.followTail", (given) => this.toggle(given, true)),
      vscode.commands.registerCommand("driveTrace.stopFollowingTail", (given) => this.toggle(given, false)),
      current.onDidChange(() => { this.tell(); }),
      vscode.workspace.onDidChangeTextDocument((change) => { this.changed(change); }),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => { this.followed.delete(uri.toString()); }),
    );
  }

  private async toggle(given: unknown, isFollowed: boolean): Promise<void> {
    const editor = await editorFor(given);
    if (editor === undefined) {
      tellOfNoTrace();
      return;
    }
    const { uri, lineCount } = editor.document;
    if (isFollowed) {
      this.followed.set(uri.toString(), lineCount);
      showEnd(editor);
    } else {
      this.followed.delete(uri.toString());
    }
    this.tell();
  }

  private changed({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    const lines = this.followed.get(document.uri.toString());
    if (lines === undefined) {
      return;
    }
    this.followed.set(document.uri.toString(), document.lineCount);
    if (contentChanges.some(({ range }) => isAppended(range, lines, document.isDirty))) {
      vscode.window.visibleTextEditors.filter((editor) => editor.document === document).forEach(showEnd);
    }
  }

  private tell(): void {
    const uri = current.editor?.document.uri.toString();
    const isFollowed = uri !== undefined && this.followed.has(uri);
    void vscode.commands.executeCommand("setContext", "driveTrace.followsTail", isFollowed);
  }
}

function showEnd(editor: vscode.TextEditor): void {
  const last = editor.document.lineCount - 1;
  editor.revealRange(new vscode.Range(last, 0, last, 0), vscode.TextEditorRevealType.Default);
}
