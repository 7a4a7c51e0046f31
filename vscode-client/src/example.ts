import * as vscode from "vscode";

import { language } from "./language";

/** Opens a trace with typical mistakes, which belongs to nobody and is nowhere on disk. */
export async function openExample(extension: vscode.Uri): Promise<void> {
  const bytes = await vscode.workspace.fs.readFile(vscode.Uri.joinPath(extension, "media", "example.jsonl"));
  const content = new TextDecoder().decode(bytes);
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ language, content }));
}
