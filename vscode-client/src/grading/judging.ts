import * as path from "node:path";

import * as vscode from "vscode";

import { showLine } from "../views/places";
import { isSaved, noteOfChanges, type Program, type Subject, subjectOf } from "./program";
import { isTakenUncalibrated, isToBeSent, type Offer, type Prompts } from "./prompt";
import type { Reasons } from "./reasons";
import { judgeSection, judgeSettings } from "./settings";
import { pickAcceptance, pickChange } from "./sources";
import { judgeArguments, type Judged, type JudgeSettings, parseJudged } from "./words";

/** What a judgement is made with. */
export interface Court {
  readonly program: Program;
  readonly prompts: Prompts;
  readonly reasons: Reasons;
  readonly memory: vscode.Memento;
}

/** Has a model judge a run, once a person has seen what it is sent and where, and shows its reasons. */
export async function judgeRun(given: unknown, court: Court): Promise<void> {
  const subject = await subjectOf(given);
  const settings = subject && (await judgeOf(subject));
  const acceptance = settings && (await pickAcceptance(subject));
  const change = acceptance && (await pickChange(subject, court.memory));
  if (!change || !(await isSaved(subject))) {
    return;
  }
  const args = judgeArguments(subject, acceptance, change, settings);
  const offer = await agreed(args, subject, court);
  const isCalibrated = offer?.calibration?.length === 0;
  if (offer === undefined || !(isCalibrated || (await isTakenUncalibrated(offer)))) {
    return;
  }
  const title = vscode.l10n.t("Drive Trace: {0} judges {1}", settings.model, subject.label);
  const judged = await ask(isCalibrated ? args : [...args, "--allow-uncalibrated"], title, subject, court);
  if (judged !== undefined) {
    await showJudged(judged, subject, court);
  }
}

/** The judge that the settings name. */
async function judgeOf({ uri }: Subject): Promise<JudgeSettings | undefined> {
  const settings = judgeSettings(uri);
  if (settings.model !== "" && settings.api + settings.modelCommand !== "") {
    const { calibration } = settings;
    const folder = vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath ?? "";
    return { ...settings, calibration: calibration && path.resolve(folder, calibration) };
  }
  const open = vscode.l10n.t("Open Settings");
  const text = vscode.l10n.t(
    "Drive Trace: no judge is set. Name a model in {0}, and how it is asked in {1} or {2}.",
    `${judgeSection}.model`, `${judgeSection}.api`, `${judgeSection}.modelCommand`,
  );
  if ((await vscode.window.showInformationMessage(text, open)) === open) {
    await vscode.commands.executeCommand("workbench.action.openSettings", judgeSection);
  }
  return undefined;
}

/** The prompt that a person wants to be sent, as it still is when they say so. */
async function agreed(args: readonly string[], subject: Subject, court: Court): Promise<Offer | undefined> {
  let offer = await prepared(args, subject, court);
  while (offer !== undefined) {
    await court.prompts.show(offer.prompt, subject);
    if (!(await isToBeSent(offer, subject))) {
      return undefined;
    }
    const now = await prepared(args, subject, court);
    if (now?.prompt === offer.prompt && now.destination === offer.destination) {
      return now;
    }
    if (now !== undefined) {
      const text = vscode.l10n.t("Drive Trace: nothing was sent, as the trace or the change is another one now. This is the new prompt.");
      void vscode.window.showWarningMessage(text);
    }
    offer = now;
  }
  return undefined;
}

async function prepared(args: readonly string[], subject: Subject, court: Court): Promise<Offer | undefined> {
  const title = vscode.l10n.t("Drive Trace: preparing the prompt for {0}", subject.label);
  const judged = await ask([...args, "--dry-run"], title, subject, court);
  if (judged === undefined) {
    return undefined;
  }
  const { prompt } = judged;
  if (typeof prompt !== "string") {
    await court.program.tellOfNothing(judged.why ?? vscode.l10n.t("there is no prompt"));
    return undefined;
  }
  return { ...judged, prompt };
}

/** What the command line says; undefined where that has been told. */
async function ask(args: readonly string[], title: string, subject: Subject, { program }: Court): Promise<Judged | undefined> {
  const ended = await program.run(args, subject, title);
  const judged = ended && parseJudged(ended.output);
  if (ended === undefined) {
    void vscode.window.showInformationMessage(vscode.l10n.t("Drive Trace: the judging was cancelled."));
  } else if (judged === undefined) {
    await program.tellOfFailure(ended);
  } else if (ended.code !== 0) {
    await (judged.why ? program.tellOfNothing(judged.why) : program.tellOfFailure(ended));
    return undefined;
  }
  return judged;
}

async function showJudged(judged: Judged, subject: Subject, { reasons }: Court): Promise<void> {
  const { viewColumn } = await showLine(subject.place.uri);
  await reasons.open(judged, subject, viewColumn);
  const text = judged.intent === "pass"
    ? vscode.l10n.t("Drive Trace: intent pass was recorded for {0}.", subject.label)
    : vscode.l10n.t("Drive Trace: intent fail was recorded for {0}.", subject.label);
  void vscode.window.showInformationMessage(text + noteOfChanges(subject));
}
