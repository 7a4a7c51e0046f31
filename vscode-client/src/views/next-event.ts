import * as vscode from "vscode";

import { language } from "../language";
import { link } from "../link";
import type { Composed, NextEvents } from "../protocol";
import { isTrace } from "./current";

/** What a person has to decide, and a key that is pressed for the next event must not: grades and costs. */
const feeds = ["correctness-recorded", "tokens-recorded"];

/** Offers the likely next event on the empty last line of a trace, so that a Tab writes one. */
export function offerNextEvent(): vscode.Disposable {
  return vscode.languages.registerInlineCompletionItemProvider({ language }, {
    provideInlineCompletionItems: async (document, { line }, _, token) => {
      const last = document.lineAt(document.lineCount - 1);
      if (line !== last.lineNumber || !last.isEmptyOrWhitespace || !isTrace(document)) {
        return [];
      }
      const uri = link.uriOf(document);
      const said: NextEvents | null | undefined = await link.ask("driveTrace/nextEvents", { uri, runId: null });
      const next = said?.events.find(({ event, isNext }) => isNext && !feeds.includes(event));
      const wanted = next && { uri, runId: said?.runId ?? null, event: next.event, kind: next.kind };
      const made: Composed | null | undefined = wanted && (await link.ask("driveTrace/composeEvent", wanted));
      if (!made || token.isCancellationRequested || made.version !== document.version) {
        return [];
      }
      const text = made.snippet === null ? `${made.text.trim()}\n` : new vscode.SnippetString(`${made.snippet.trim()}\n`);
      return [new vscode.InlineCompletionItem(text, last.range)];
    },
  });
}
