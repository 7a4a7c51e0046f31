import * as vscode from "vscode";

import { link } from "../link";
import type { Compared } from "../protocol";
import { themed } from "./report-panel";
import type { Node } from "./run-rows";
import { type Side, sideOf } from "./sides";
import { newPanel, page } from "./webview";

/** Compares what is chosen in the view Runs or in the Explorer: first one side, then the other. */
export class Comparing {
  private baseline: Side | undefined;

  /** `selected` are the rows that commands without an argument are about. */
  constructor(private readonly selected: () => readonly Node[]) {}

  select(given: unknown, all: unknown): void {
    this.baseline = this.sideOf(given, all);
    if (this.baseline !== undefined) {
      const words = vscode.l10n.t("Drive Trace: {0} is the baseline. Compare others with it.", this.baseline.label);
      vscode.window.setStatusBarMessage(words, 10_000);
    }
    void vscode.commands.executeCommand("setContext", "driveTrace.hasBaseline", this.baseline !== undefined);
  }

  async compare(given: unknown, all: unknown): Promise<void> {
    const { baseline } = this;
    const candidate = this.sideOf(given, all);
    if (baseline === undefined || candidate === undefined) {
      void vscode.window.showInformationMessage(vscode.l10n.t("Drive Trace: select runs for compare first, then others to compare with them."));
      return;
    }
    const title = vscode.l10n.t("Drive Trace: comparing…");
    const ask = (allowed: readonly string[]): Thenable<Compared> =>
      vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, () => link.answer("driveTrace/compare", {
        baseline: spelled(baseline), baselineRuns: baseline.runs, candidate: spelled(candidate), candidateRuns: candidate.runs, allowed,
      }));
    const found = await ask([]);
    const panel = newPanel("driveTrace.comparison", "");
    show(panel, found, baseline, candidate);
    const vouched = await vouchedFor(found);
    if (vouched.length > 0) {
      show(panel, await ask(vouched), baseline, candidate);
    }
  }

  private sideOf(given: unknown, all: unknown): Side | undefined {
    const chosen = Array.isArray(all) && all.length > 0 ? all : [given];
    const isGiven = chosen.every((each) => typeof each === "object" && each !== null);
    return sideOf(isGiven ? chosen as (Node | vscode.Uri)[] : this.selected());
  }
}

/** What the Explorer gives is spelled otherwise than what the server says. */
function spelled({ uris }: Side): string[] {
  return uris.map((uri) => link.spell(uri));
}

/** What a person says to be alike, of what nobody can verify; nothing where it is not asked. */
async function vouchedFor({ unverified }: Compared): Promise<string[]> {
  if (unverified.length === 0) {
    return [];
  }
  const choose = vscode.l10n.t("Vouch for It…");
  const words = vscode.l10n.t("Drive Trace: not recorded for all of these runs: {0}. Vouch for what you know to be alike, to compare them all the same.", unverified.join(", "));
  if (await vscode.window.showInformationMessage(words, choose) !== choose) {
    return [];
  }
  const title = vscode.l10n.t("What do you know to be alike on both sides?");
  return await vscode.window.showQuickPick(unverified, { canPickMany: true, title }) ?? [];
}

/** A page that runs nothing. */
function show(panel: vscode.WebviewPanel, { title, body, style }: Compared, baseline: Side, candidate: Side): void {
  panel.title = vscode.l10n.t("{0} against {1}: {2}", candidate.label, baseline.label, title);
  panel.webview.html = page(panel.title, [style, themed], body);
}
