import { dirname } from "node:path";

import * as vscode from "vscode";

import { link, NoServer } from "../link";
import type { Component, Grade, GradedRun } from "../protocol";
import type { Command } from "../starting/choice";
import { placeOf, type Place } from "../views/places";
import { type Ended, runToEnd } from "./child";
import { lastWords, plain, type Target } from "./words";

/** The run that is graded. */
export interface Subject extends Target {
  readonly place: Place;
  readonly uri: vscode.Uri;
  readonly run: GradedRun;
  /** Its name, as it may be shown anywhere. */
  readonly label: string;
  /** Where what grades it is run. */
  readonly folder: string;
}

/** What a command came to; undefined where a person has cancelled it. */
export type Outcome = Ended | undefined;

/** Runs commands of drive-trace as children of the extension, with the program of the server. */
export class Program implements vscode.Disposable {
  private readonly output = vscode.window.createOutputChannel("Drive Trace: Grading");
  private readonly ends = new AbortController();

  constructor(private readonly command: () => Command | undefined) {}

  /** Runs a command to its end, with progress, and a way to cancel. What it says is in the output. */
  async run(args: readonly string[], { folder }: Subject, title: string, environment?: Readonly<Record<string, string>>): Promise<Outcome> {
    const command = this.command();
    if (command === undefined) {
      throw new NoServer(args[0]);
    }
    this.output.appendLine(`\n— ${["drive-trace", ...args].join(" ")}`);
    const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
    return vscode.window.withProgress(options, async (_, token) => {
      const cancelled = new AbortController();
      token.onCancellationRequested(() => { cancelled.abort(); });
      const signal = AbortSignal.any([cancelled.signal, this.ends.signal]);
      const take = (text: string): void => { this.output.append(text); };
      const ended = await runToEnd(command.file, [...command.args, ...args], folder, take, signal, environment);
      this.output.appendLine(`— ended (${ended.code ?? "by a signal"})`);
      // What was done before it could be cancelled is told.
      return signal.aborted && (ended.code ?? 4) > 3 ? undefined : ended;
    });
  }

  show(): void {
    this.output.show(true);
  }

  async tellOfGrade(component: Component, grade: Grade, subject: Subject): Promise<void> {
    const text = vscode.l10n.t("Drive Trace: {0} {1} was recorded for {2}.", component, grade, subject.label);
    const tell = grade === "pass" ? vscode.window.showInformationMessage : vscode.window.showWarningMessage;
    const show = vscode.l10n.t("Show Output");
    if ((await tell(text + noteOfChanges(subject), show)) === show) {
      this.show();
    }
  }

  /** Says that nothing came of it, and why, with a way to the output. */
  async tellOfNothing(why: string): Promise<void> {
    const show = vscode.l10n.t("Show Output");
    const text = vscode.l10n.t("Drive Trace: nothing was recorded: {0}", plain(why));
    if ((await vscode.window.showErrorMessage(text, show)) === show) {
      this.output.show(true);
    }
  }

  tellOfFailure({ errors, code }: Ended): Promise<void> {
    return this.tellOfNothing(lastWords(errors) || vscode.l10n.t("drive-trace ended with exit code {0}", code ?? "?"));
  }

  /** Ends what still runs, with the window. */
  dispose(): void {
    this.ends.abort();
    this.output.dispose();
  }
}

/** The run that a command is about; undefined where there is none, or a person thinks better of it. */
export async function subjectOf(given: unknown): Promise<Subject | undefined> {
  if (link.inWebAssembly) {
    throw new Error(vscode.l10n.t("Gates and judges are programs, and the server runs in WebAssembly, which can start none. Install Python 3.11 or newer, and restart the server."));
  }
  const place = await placeOf(given);
  if (place === undefined) {
    return undefined;
  }
  const uri = link.toUri(place.uri);
  if (uri.scheme !== "file") {
    throw new Error(vscode.l10n.t("The trace is in no file yet: save it first."));
  }
  const run = await link.answer("driveTrace/run", place);
  const folder = vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath ?? dirname(uri.fsPath);
  return { place, uri, run, label: plain(run.label, 80), folder, file: uri.fsPath, runId: place.runId };
}

/** Saves the trace where it has changes: what is recorded is appended to its file on disk. */
export async function isSaved({ uri }: Subject): Promise<boolean> {
  const document = unsaved(uri);
  if (document === undefined) {
    return true;
  }
  const save = vscode.l10n.t("Save");
  const question = vscode.l10n.t("The trace has changes that are not saved.");
  const detail = vscode.l10n.t("What is recorded is appended to its file on disk. Save it first?");
  const picked = await vscode.window.showWarningMessage(question, { modal: true, detail }, save);
  if (picked === save && !(await document.save())) {
    throw new Error(vscode.l10n.t("The trace could not be saved."));
  }
  return picked === save;
}

/** What is to be added where the trace was changed meanwhile: its editor does not show what was appended. */
function noteOfChanges({ uri }: Subject): string {
  return unsaved(uri) === undefined
    ? ""
    : ` ${vscode.l10n.t("The editor has changes that are not saved, and does not show it: compare the two when you save.")}`;
}

function unsaved(uri: vscode.Uri): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find((each) => each.isDirty && each.uri.toString() === uri.toString());
}
