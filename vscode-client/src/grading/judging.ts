import * as path from "node:path";

import * as vscode from "vscode";

import { showLine } from "../views/places";
import { type Bridge, bridgeTo } from "./editor-model";
import { isSaved, type Program, type Subject, subjectOf } from "./program";
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
  /** Where the judge is a model of the editor. */
  readonly bridge?: Bridge;
}

interface Judge {
  readonly settings: JudgeSettings;
  readonly bridge?: Bridge;
}

/** Has a model judge a run, once a person has seen what it is sent and where, and shows its reasons. */
export async function judgeRun(given: unknown, court: Court): Promise<void> {
  const subject = await subjectOf(given);
  const judge = subject && (await judgeOf(subject, court));
  if (subject !== undefined && judge !== undefined) {
    const { settings, bridge } = judge;
    await judgedBy(settings, subject, bridge ? { ...court, bridge } : court).finally(() => { bridge?.close(); });
  }
}

async function judgedBy(settings: JudgeSettings, subject: Subject, court: Court): Promise<void> {
  const acceptance = await pickAcceptance(subject);
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

/** The judge that the settings name, or else a model of the editor. */
async function judgeOf({ uri }: Subject, { program }: Court): Promise<Judge | undefined> {
  const settings = judgeSettings(uri);
  const folder = vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath ?? "";
  const calibration = settings.calibration && path.resolve(folder, settings.calibration);
  if (settings.model !== "" && settings.api + settings.modelCommand !== "") {
    return { settings: { ...settings, calibration } };
  }
  const open = vscode.l10n.t("Open Settings");
  const pick = vscode.l10n.t("Use a Model of the Editor…");
  const text = vscode.l10n.t(
    "Drive Trace: no judge is set. Name a model in {0}, and how it is asked in {1} or {2}.",
    `${judgeSection}.model`, `${judgeSection}.api`, `${judgeSection}.modelCommand`,
  );
  const picked = await vscode.window.showInformationMessage(text, open, pick);
  if (picked === open) {
    await vscode.commands.executeCommand("workbench.action.openSettings", judgeSection);
  }
  const model = picked === pick ? await pickModel() : undefined;
  if (model === undefined) {
    return undefined;
  }
  const bridge = await bridgeTo((prompt) => replyOf(model, prompt), (error) => { void program.tellOfNothing(String(error)); });
  // As the editor reports it: nobody can look behind that.
  const named = { model: `${model.vendor}/${model.id}`, api: "", baseUrl: "", modelCommand: bridge.command };
  return { settings: { ...settings, ...named, calibration }, bridge };
}

/** The model that a person picks; nothing is sent before they have seen the prompt, and the editor has asked, too. */
async function pickModel(): Promise<vscode.LanguageModelChat | undefined> {
  const models = await vscode.lm.selectChatModels();
  if (models.length === 0) {
    void vscode.window.showInformationMessage(vscode.l10n.t("Drive Trace: the editor offers no language model, as where no agent is set up."));
    return undefined;
  }
  const items = models.map((model) => ({ label: model.name, description: `${model.vendor}/${model.id}`, model }));
  const placeHolder = vscode.l10n.t("Which model is to judge? It is not calibrated unless the settings name its calibration.");
  return (await vscode.window.showQuickPick(items, { placeHolder }))?.model;
}

async function replyOf(model: vscode.LanguageModelChat, prompt: string): Promise<string> {
  const justification = vscode.l10n.t("Drive Trace has this model judge a run.");
  const response = await model.sendRequest([vscode.LanguageModelChatMessage.User(prompt)], { justification });
  let reply = "";
  for await (const part of response.text) {
    reply += part;
  }
  return reply;
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
async function ask(args: readonly string[], title: string, subject: Subject, { program, bridge }: Court): Promise<Judged | undefined> {
  const ended = await program.run(args, subject, title, bridge?.environment);
  const said = ended && parseJudged(ended.output);
  // Whoever reads where it goes knows nothing of the way there.
  const judged = said && bridge ? { ...said, destination: vscode.l10n.t("{0}, a model of the editor", said.model) } : said;
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

async function showJudged(judged: Judged, subject: Subject, { reasons, program }: Court): Promise<void> {
  const { viewColumn } = await showLine(subject.place.uri);
  await reasons.open(judged, subject, viewColumn);
  await program.tellOfGrade("intent", judged.intent ?? "fail", subject);
}
