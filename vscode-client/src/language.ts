import * as vscode from "vscode";

export const language = "drive-trace";

/** Whether this runs in a browser, where folders are of any file system; elsewhere traces are files of the machine. */
export const inBrowser = "importScripts" in globalThis;
const filesSetting = "driveTrace.files";

/**
 * Gives the language of traces to the open files that a setting names, now and from now on.
 *
 * Once for each file that is opened: who then chooses another language for it keeps that. When the
 * setting names a file no longer, it gets back the language that it had.
 */
export function watchLanguage(): vscode.Disposable {
  const before = new Map<string, string>();
  const adopt = (document: vscode.TextDocument): void => {
    const [uri, now] = [document.uri.toString(), document.languageId];
    const former = before.get(uri);
    if (former === undefined && now !== language && isNamed(document)) {
      before.set(uri, now);
      void vscode.languages.setTextDocumentLanguage(document, language);
    } else if (former !== undefined && !isNamed(document)) {
      before.delete(uri);
      void (now === language && vscode.languages.setTextDocumentLanguage(document, former));
    }
  };
  vscode.workspace.textDocuments.forEach(adopt);
  return vscode.Disposable.from(
    vscode.workspace.onDidOpenTextDocument(adopt),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => {
      // A change of language closes a document and opens it again at once.
      setTimeout(() => {
        if (!vscode.workspace.textDocuments.some((document) => document.uri.toString() === uri.toString())) {
          before.delete(uri.toString());
        }
      });
    }),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration(filesSetting)) {
        vscode.workspace.textDocuments.forEach(adopt);
      }
    }),
  );
}

/** The names that traces usually have. */
const names = "{**/trace.jsonl,**/wip/drive-trace/*.jsonl}";

/** Whether a folder of the workspace has a trace. */
async function workspaceHasTrace(): Promise<boolean> {
  const elsewhere = "{**/node_modules/**,**/.venv/**,**/venv/**}";
  try {
    return (await vscode.workspace.findFiles(names, elsewhere, 1)).length > 0;
  } catch {
    return false; // then it is started when a trace is opened
  }
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

/** Shows the view Runs and what else is about traces once there are some: in the workspace, which is told to `found`, or in an editor. */
export function showWhereTracesAre(found: () => unknown): vscode.Disposable {
  const show = (): void => { void vscode.commands.executeCommand("setContext", "driveTrace.hasTraces", true); };
  const created = vscode.workspace.createFileSystemWatcher(names, false, true, true);
  created.onDidCreate(show);
  void workspaceHasTrace().then((has) => {
    if (has) {
      show();
      found();
    }
  });
  return vscode.Disposable.from(created, onTrace(show));
}

/** A record is one line: a line break in it is taken back, as VS Code types one between braces. */
export function keepRecordsWhole(): vscode.Disposable {
  return vscode.languages.registerOnTypeFormattingEditProvider(language, {
    provideOnTypeFormattingEdits: (document, { line }) => {
      const above = document.lineAt(line - 1);
      const here = [line, line + 1].filter((each) => each < document.lineCount).map((each) => document.lineAt(each).text.trim());
      const [first = "", second = ""] = here;
      const end = first === "" && second !== "" ? line + 1 : line;
      const rest = first === "" ? second : first;
      if (!isRecord(above.text) && isRecord(above.text.trimEnd() + rest)) {
        const gap = new vscode.Range(above.range.end, new vscode.Position(end, document.lineAt(end).firstNonWhitespaceCharacterIndex));
        return [vscode.TextEdit.delete(gap)];
      }
      return [];
    },
  }, "\n");
}

function isRecord(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

/** Whether an address is that of a file, or of what is to become one. */
export function isWritten({ scheme }: vscode.Uri): boolean {
  return scheme === "untitled" || (inBrowser ? scheme !== "git" : scheme === "file");
}

function isNamed(document: vscode.TextDocument): boolean {
  const globs = vscode.workspace.getConfiguration(undefined, document.uri).get<unknown>(filesSetting);
  const selector = strings(globs).flatMap((glob) => patterns(glob, document.uri));
  return isWritten(document.uri) && vscode.languages.match(selector, document) > 0;
}

/** A glob counts from the folder of the workspace, as in other settings. */
function patterns(glob: string, uri: vscode.Uri): vscode.DocumentFilter[] {
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  return folder === undefined ? [{ pattern: glob }] : [{ pattern: glob }, { pattern: new vscode.RelativePattern(folder, glob) }];
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
