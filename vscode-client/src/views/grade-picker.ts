import * as vscode from "vscode";

import { type Component, components, type Grade, type GradedRun } from "../protocol";
import { joined } from "./display";

/** What is recorded anew, `null` to take it back; the other components are kept. */
export type Grades = Partial<Record<Component, Grade | null | undefined>>;

/** Of the picker that is open; `undefined` keeps what was recorded. */
const turns = [undefined, "pass", "fail", null] as const;

const isOpen = "driveTrace.picksGrades";

interface Row extends vscode.QuickPickItem {
  /** Of the row that records, there is none. */
  readonly component?: Component;
}

let open: GradePicker | undefined;

/** Turns the grade of the row that the keyboard is on, for the space bar. */
export function turnGrade(): void {
  open?.turn();
}

/** Asks how a run came out, and says which verdict that makes, before it is recorded. */
export async function pickGrades(run: GradedRun, title: string): Promise<Grades | undefined> {
  const picker = new GradePicker(run, title);
  open = picker;
  await vscode.commands.executeCommand("setContext", isOpen, true);
  try {
    return await picker.answer();
  } finally {
    // A picker that takes the place of this one hides it.
    if (open === picker) {
      await vscode.commands.executeCommand("setContext", isOpen, false);
    }
  }
}

class GradePicker {
  private readonly picker = vscode.window.createQuickPick<Row>();
  private readonly grades: Grades = {};

  constructor(private readonly run: GradedRun, title: string) {
    this.picker.title = title;
    this.picker.placeholder = vscode.l10n.t("How did it come out? Space turns a grade: pass, fail, not recorded, keep.");
    this.picker.ignoreFocusOut = true;
    this.picker.keepScrollPosition = true;
    this.show(Math.max(0, components.findIndex((each) => !run.correctness?.[each])));
  }

  answer(): Promise<Grades | undefined> {
    return new Promise((resolve) => {
      this.picker.onDidAccept(() => {
        if (this.picker.activeItems[0]?.component !== undefined) {
          this.turn();
        } else if (this.isChanged) {
          resolve(this.grades);
          this.picker.hide();
        }
      });
      this.picker.onDidHide(() => {
        this.picker.dispose();
        resolve(undefined);
      });
      this.picker.show();
    });
  }

  turn(): void {
    const component = this.picker.activeItems[0]?.component;
    if (component !== undefined) {
      const known: readonly (Grade | null | undefined)[] = this.run.correctness?.[component] ? turns : turns.slice(0, -1);
      this.grades[component] = known[(known.indexOf(this.grades[component]) + 1) % known.length];
      this.show(components.indexOf(component));
    }
  }

  private show(active: number): void {
    const rows = [...components.map((each) => this.rowOf(each)), this.recording()];
    this.picker.items = rows;
    this.picker.activeItems = rows.slice(active).slice(0, 1);
  }

  private rowOf(component: Component): Row {
    const meanings = {
      mechanical: vscode.l10n.t("Type checks, tests and lint"),
      qa: vscode.l10n.t("The QA run"),
      intent: vscode.l10n.t("Whether it is what was meant"),
    };
    const none = vscode.l10n.t("not recorded");
    const turned = this.grades[component];
    const after = turned === undefined ? vscode.l10n.t("keep") : turned ?? none;
    const description = `${this.run.correctness?.[component] ?? none} → ${after}`;
    const icon = { pass: "pass", fail: "error", "": "circle-large-outline" }[this.after(component)];
    return { label: `$(${icon}) ${component}`, description, detail: meanings[component], component, alwaysShow: true };
  }

  private recording(): Row {
    const verdict = this.run.verdicts[components.map((each) => this.after(each)).join("/")] ?? "";
    const label = this.isChanged
      ? `$(save) ${vscode.l10n.t("Record: {0}", verdict)}`
      : `$(circle-slash) ${vscode.l10n.t("Nothing to record yet")}`;
    const { headline, caveats } = this.run;
    return { label, description: vscode.l10n.t("now: {0}", headline), detail: joined(...caveats), alwaysShow: true };
  }

  private get isChanged(): boolean {
    return Object.values(this.grades).some((each) => each !== undefined);
  }

  private after(component: Component): Grade | "" {
    const turned = this.grades[component];
    return (turned === undefined ? this.run.correctness?.[component] : turned) ?? "";
  }
}
