import * as vscode from "vscode";

export const language = "drive-trace";
const filesSetting = "driveTrace.files";

/** Gives the language of traces to the open files that a setting names, now and from now on. */
export function watchLanguage(): vscode.Disposable {
  const all = (): void => { vscode.workspace.textDocuments.forEach(adopt); };
  all();
  return vscode.Disposable.from(
    vscode.workspace.onDidOpenTextDocument(adopt),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration(filesSetting)) {
        all();
      }
    }),
  );
}

/** Calls `found` once there is an open trace. */
export function onTrace(found: () => void): vscode.Disposable {
  const opened = vscode.workspace.onDidOpenTextDocument((document) => { look(document); });
  const look = (document: vscode.TextDocument): void => {
    if (document.languageId === language) {
      opened.dispose();
      found();
    }
  };
  vscode.workspace.textDocuments.forEach(look);
  return opened;
}

function adopt(document: vscode.TextDocument): void {
  const globs = vscode.workspace.getConfiguration(undefined, document.uri).get<unknown>(filesSetting);
  const selector = strings(globs).flatMap((glob) => patterns(glob, document.uri));
  const isFile = ["file", "untitled"].includes(document.uri.scheme);
  if (isFile && document.languageId !== language && vscode.languages.match(selector, document) > 0) {
    void vscode.languages.setTextDocumentLanguage(document, language);
  }
}

/** A glob counts from the folder of the workspace, as in other settings. */
function patterns(glob: string, uri: vscode.Uri): vscode.DocumentFilter[] {
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  return folder === undefined ? [{ pattern: glob }] : [{ pattern: glob }, { pattern: new vscode.RelativePattern(folder, glob) }];
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
