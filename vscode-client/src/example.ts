import * as vscode from "vscode";

/** A trace to begin with, by its file in media/examples. */
interface Example {
  readonly name: string;
  readonly about: string;
}

/** First one to read, then one to mend, then one to grade. */
function examples(): readonly Example[] {
  const { t } = vscode.l10n;
  return [
    { name: "checkout-retry", about: t("a good run, to read") },
    { name: "typical-mistakes", about: t("a run with mistakes, to mend") },
    { name: "orphan-fix-flaky-login", about: t("a run to be graded") },
  ];
}

/**
 * Opens a copy of an example, which nobody else reads: that of the name that a step of the
 * walkthrough gives, else one that is asked for. It is made anew unless it has changes to save.
 */
export async function openExample(context: vscode.ExtensionContext, given: unknown): Promise<void> {
  const known = examples();
  const name = known.find((each) => each.name === given)?.name ?? (await ask(known));
  if (name === undefined) {
    return;
  }
  const folder = vscode.Uri.joinPath(context.globalStorageUri, "wip", "drive-trace");
  const copy = vscode.Uri.joinPath(folder, `${name}.jsonl`);
  if (!vscode.workspace.textDocuments.some(({ uri, isDirty }) => isDirty && uri.toString() === copy.toString())) {
    await vscode.workspace.fs.createDirectory(folder);
    const original = vscode.Uri.joinPath(context.extensionUri, "media", "examples", `${name}.jsonl`);
    await vscode.workspace.fs.writeFile(copy, await vscode.workspace.fs.readFile(original));
  }
  await vscode.window.showTextDocument(copy, { preview: false });
  await vscode.commands.executeCommand("setContext", "driveTrace.example", name); // ends a step of the walkthrough
}

async function ask(known: readonly Example[]): Promise<string | undefined> {
  const items = known.map(({ name, about }) => ({ label: name, description: about }));
  const picked = await vscode.window.showQuickPick(items, { placeHolder: vscode.l10n.t("Which example?") });
  return picked?.label;
}
