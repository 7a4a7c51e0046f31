import * as vscode from "vscode";

import { columnOfViews } from "./columns";

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

export function noted(panel: vscode.WebviewPanel): void {
  opened.add(panel);
  panel.onDidDispose(() => { opened.delete(panel); });
}

/** Runs a script of the extension in a page, which has these words and the place by which the view is found again. */
export function runPage(
  webview: vscode.Webview, extension: vscode.Uri, script: string, title: string, styles: readonly string[],
  given: { readonly words: Readonly<Record<string, string>>; readonly place: object },
): void {
  const scripts = vscode.Uri.joinPath(extension, "dist", "webview");
  webview.options = { enableScripts: true, localResourceRoots: [scripts] };
  webview.html = page(title, styles, "", { address: webview.asWebviewUri(vscode.Uri.joinPath(scripts, script)).toString(), given });
}

/** A page that may run its one script, if any, and apply its own styles, and may load nothing else. Scripts change the first style. */
export function page(
  title: string, styles: readonly string[], body: string, script?: { readonly address: string; readonly given: object },
): string {
  const nonce = crypto.randomUUID();
  const run = script === undefined ? "" : `<script nonce="${nonce}" src="${escaped(script.address)}"></script>`;
  const given = script === undefined ? "" : ` data-given="${escaped(JSON.stringify(script.given))}"`;
  const policy = [
    "default-src 'none'", `style-src 'nonce-${nonce}'`, ...(script === undefined ? [] : [`script-src 'nonce-${nonce}'`]),
    "base-uri 'none'", "form-action 'none'",
  ].join("; ");
  return `<!DOCTYPE html>
<html lang="${escaped(vscode.env.language)}">
<head>
<meta charset="utf-8">
<title>${escaped(title)}</title>
<meta http-equiv="Content-Security-Policy" content="${policy}">
${styles.map((style, index) => `<style nonce="${nonce}"${index === 0 ? ' id="sheet"' : ""}>${style}</style>`).join("\n")}
</head>
<body${given}>${body}${run}</body>
</html>`;
}

/** Text as it stands in HTML, also in an attribute. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
