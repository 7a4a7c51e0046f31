import * as vscode from "vscode";
import {
  ResponseError,
  type ShowDocumentParams,
  type WindowMiddleware,
} from "vscode-languageclient/node";

/** Shows a Markdown file that the server has written as its preview, not as source. */
export const showDocument: NonNullable<WindowMiddleware["showDocument"]> = async (params, token, next) => {
  if (isLocalMarkdown(params)) {
    await vscode.commands.executeCommand("markdown.showPreview", vscode.Uri.parse(params.uri));
    return { success: true };
  }
  const result = await next(params, token);
  return result instanceof ResponseError ? { success: false } : result;
};

function isLocalMarkdown(params: ShowDocumentParams): boolean {
  const uri = vscode.Uri.parse(params.uri);
  return params.external !== true && uri.scheme === "file" && uri.path.endsWith(".md");
}
