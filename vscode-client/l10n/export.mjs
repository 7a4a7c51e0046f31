/**
 * Writes bundle.l10n.json: every message of the extension, for those who translate it.
 *
 * A translation stands beside it as bundle.l10n.<language>.json; VS Code takes the one that fits.
 * With --check it is not written, but has to be as it would be.
 */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";

import ts from "typescript";

const here = path.dirname(fileURLToPath(import.meta.url));
const sources = path.join(here, "..", "src");

const files = readdirSync(sources, { recursive: true }).filter((file) => file.endsWith(".ts")).sort();
const messages = files.flatMap((file) => messagesOf(path.join(sources, file)));
const bundle = Object.fromEntries(messages.sort().map((message) => [message, message]));
const file = path.join(here, "bundle.l10n.json");
const text = `${JSON.stringify(bundle, null, 2)}\n`;
if (!process.argv.includes("--check")) {
  writeFileSync(file, text);
} else if (readFileSync(file, "utf8") !== text) {
  throw new Error("l10n/bundle.l10n.json does not hold the messages as they are: npm run l10n");
}

/** The first arguments of `vscode.l10n.t(…)`, which have to be literals to be found. */
function messagesOf(file) {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  const found = [];
  const visit = (node) => {
    if (ts.isCallExpression(node) && node.expression.getText(source) === "vscode.l10n.t") {
      const [message] = node.arguments;
      if (message === undefined || !ts.isStringLiteralLike(message)) {
        const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
        throw new Error(`${file}:${line + 1}: a message has to be a literal, to be translated`);
      }
      found.push(message.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
