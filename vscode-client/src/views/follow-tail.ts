import * as vscode from "vscode";

import { language, traceEditor } from "./places";

/** Keeps the end of a trace in view while others append to it. */
export class FollowTail {
  private readonly followed = new Set<string>();

  constructor(context: vscode.ExtensionContext) {
    context.subscriptions.push(
      vscode.commands.registerCommand("driveTrace.followTail", () => { this.toggle(true); }),
      vscode.commands.registerCommand("driveTrace.stopFollowingTail", () => { this.toggle(false); }),
      vscode.window.onDidChangeActiveTextEditor(() => { this.tell(); }),
      vscode.workspace.onDidChangeTextDocument(({ document }) => { this.changed(document); }),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => { this.followed.delete(uri.toString()); }),
    );
  }

  private toggle(isFollowed: boolean): void {
    const editor = traceEditor();
    if (editor === undefined) {
      return;
    }
    const uri = editor.document.uri.toString();
    if (isFollowed) {
      this.followed.add(uri);
      showEnd(editor);
    } else {
      this.followed.delete(uri);
    }
    this.tell();
  }

  private changed(document: vscode.TextDocument): void {
    if (this.followed.has(document.uri.toString())) {
      vscode.window.visibleTextEditors.filter((editor) => editor.document === document).forEach(showEnd);
    }
  }

  private tell(): void {
    const document = vscode.window.activeTextEditor?.document;
    const isFollowed = document?.languageId === language && this.followed.has(document.uri.toString());
    void vscode.commands.executeCommand("setContext", "driveTrace.followsTail", isFollowed);
  }
}

function showEnd(editor: vscode.TextEditor): void {
  const last = editor.document.lineCount - 1;
  editor.revealRange(new vscode.Range(last, 0, last, 0), vscode.TextEditorRevealType.Default);
}
