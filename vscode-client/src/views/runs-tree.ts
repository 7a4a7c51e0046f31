import * as vscode from "vscode";

import { link } from "../link";
import type { Run, RunAt, Runs } from "../protocol";
import { OneAtATime } from "./one-at-a-time";
import { type RunNode, showLine } from "./places";
import { caveatBadges, type GroupNode, iconOf, itemOf, keyOf, type Node, type Parts, partsIn, partsOf } from "./run-rows";
import { runsOf } from "./sides";
import { aboveRuns, type Grouping, groupOf, matching, sorted, type Sorting } from "./display";

/** How the rows stand, as a person has chosen. */
interface Arrangement {
  readonly by: Grouping;
  readonly parts: Parts;
  readonly sorting: Sorting;
}

const arrangementKey = "driveTrace.runsArranged";

/** Every run of the workspace, with its verdict. */
export class RunsTree implements vscode.TreeDataProvider<Node> {
  private readonly changes = new vscode.EventEmitter<Node[] | undefined>();
  private readonly refreshing = new OneAtATime(() => this.refresh(), 200);
  private readonly view: vscode.TreeView<Node>;
  /** What was said last; undefined where nothing was said yet. */
  private said: Runs | undefined;
  private nodes = new Map<string, RunNode>();
  private sought = "";
  private searches = false;
  /** The run that the cursor is in, and whether it is still to be selected. */
  private here: { runId: string; uri: string; isNew: boolean } | undefined;
  private arrangement: Arrangement;

  readonly onDidChangeTreeData = this.changes.event;

  constructor(private readonly context: vscode.ExtensionContext, private readonly need: () => Promise<void>) {
    this.arrangement = { by: "none", parts: "slices", sorting: "last", ...context.workspaceState.get<Partial<Arrangement>>(arrangementKey) };
    this.view = vscode.window.createTreeView("driveTrace.runs", { treeDataProvider: this, showCollapseAll: true, canSelectMany: true });
    const command = (name: string, act: () => unknown): vscode.Disposable =>
      vscode.commands.registerCommand(`driveTrace.${name}`, act);
    context.subscriptions.push(
      this.view,
      this.refreshing,
      this.changes,
      vscode.window.registerFileDecorationProvider(caveatBadges),
      command("openRun", () => this.openChosen()),
      command("filterRuns", () => { this.askFilter(); }),
      command("clearRunFilter", () => { this.filter(""); }),
      command("arrangeRuns", () => this.askArrangement()),
      command("refreshRuns", () => this.lookAgain()),
      link.onDidChange(() => {
        if (this.view.visible) {
          this.refreshing.request();
        }
      }),
      link.onDidChangeHealth(() => { this.tell(); }),
      this.view.onDidChangeVisibility(({ visible }) => {
        if (visible) {
          this.here = this.here && { ...this.here, isNew: true };
          this.refreshing.request(true);
        }
      }),
    );
    this.tell();
  }

  /** Selects the run that the cursor has come to, as soon as the view is to be seen. */
  reveal({ runId }: RunAt, uri: string): void {
    const isNew = runId !== this.here?.runId || uri !== this.here.uri || this.here.isNew;
    this.here = { runId, uri, isNew };
    this.revealHere();
  }

  get selection(): readonly Node[] {
    return this.view.selection;
  }

  private revealHere(): void {
    const { here, view } = this;
    const node = here?.isNew && view.visible
      ? this.shown.find(({ run }) => run.runId === here.runId && run.files.some((file) => file.uri === here.uri))
      : undefined;
    if (here === undefined || node === undefined) {
      return;
    }
    here.isNew = false;
    const [chosen] = view.selection;
    if (chosen === undefined || "group" in chosen || runsOf(chosen)[0] !== node.run) {
      void view.reveal(node, { select: true, focus: false });
    }
  }

  private openChosen(): unknown {
    const [node] = this.view.selection;
    if (node === undefined || "group" in node) {
      return undefined;
    }
    if ("symbol" in node) {
      return showLine(node.within.file.uri, node.symbol.selectionRange.start.line, { preview: true });
    }
    const file = "file" in node ? node.file : node.run.files[0];
    return file && showLine(file.uri, file.line, { preview: true });
  }

  /** Searches the folders again. Tries to start the server where it is not there, which `need` does not. */
  private async lookAgain(): Promise<void> {
    if (link.health === "absent") {
      await vscode.commands.executeCommand("driveTrace.restartServer");
    }
    this.searches = true;
    this.refreshing.request(true);
  }

  /** What was said last stays while there is nobody to ask. */
  private async refresh(): Promise<void> {
    if (link.health !== "absent") {
      await this.need();
    }
    const again = this.searches;
    this.searches = false;
    const said = await link.ask("driveTrace/runs", { again });
    if (said !== undefined) {
      this.take(said);
    }
    this.tell();
    this.revealHere();
  }

  /**
   * Draws anew only what differs: a click on a row is lost that comes while VS Code draws all.
   */
  private take(said: Runs): void {
    const before = this.shown;
    const old = this.nodes;
    const changed: RunNode[] = [];
    this.said = said;
    this.nodes = new Map(said.runs.map((run) => {
      const node = old.get(keyOf(run)) ?? { run };
      if (JSON.stringify(node.run) !== JSON.stringify(run)) {
        node.run = run;
        changed.push(node);
      }
      return [keyOf(run), node];
    }));
    const now = this.shown;
    const isSame = now.length === before.length && now.every((node, at) => node === before[at]);
    const drawn = changed.filter((node) => now.includes(node));
    if (!isSame || drawn.length > 0) {
      this.changes.fire(isSame ? drawn : undefined);
    }
  }

  /** The runs that match the filter, in their order. */
  private get shown(): RunNode[] {
    const runs = sorted(matching(this.runs, this.sought), this.arrangement.sorting);
    return runs.flatMap((run) => this.nodes.get(keyOf(run)) ?? []);
  }

  private get runs(): readonly Run[] {
    return this.said?.runs ?? [];
  }

  private get groups(): GroupNode[] {
    const { by } = this.arrangement;
    const groups = new Map<string, RunNode[]>();
    for (const node of this.shown) {
      const group = groupOf(node.run, by, vscode.env.language);
      groups.set(group, [...(groups.get(group) ?? []), node]);
    }
    return [...groups].map(([group, runs]) => ({ group, runs, icon: iconOfGroup(by, runs) }));
  }

  /** Says above the rows, or in place of them, what they do not show. */
  private tell(): void {
    const { health } = link;
    const message = this.said === undefined ? "" : aboveRuns(this.said, this.sought, health === "absent");
    // VS Code draws at most one change in 200 ms at once, and holds back those that follow it.
    if (message !== this.view.message) {
      this.view.message = message;
    }
    const known = this.said === undefined ? "not yet" : "known";
    void vscode.commands.executeCommand("setContext", "driveTrace.runsAre", health === "absent" ? "out of reach" : known);
  }

  private filter(sought: string): void {
    this.sought = sought;
    void vscode.commands.executeCommand("setContext", "driveTrace.filtersRuns", sought !== "");
    this.changes.fire(undefined);
    this.tell();
  }

  /** Filters while somebody types, and goes back where they think better of it. */
  private askFilter(): void {
    const before = this.sought;
    const input = vscode.window.createInputBox();
    input.placeholder = vscode.l10n.t("Words of a run's id, verdict, file or course, such as: halted checkout");
    input.value = before;
    let isKept = false;
    input.onDidChangeValue((value) => { this.filter(value); });
    input.onDidAccept(() => {
      isKept = true;
      input.hide();
    });
    input.onDidHide(() => {
      if (!isKept) {
        this.filter(before);
      }
      input.dispose();
    });
    input.show();
  }

  /** Asks how the rows are to stand, and keeps that for the workspace. */
  private async askArrangement(): Promise<void> {
    const { t } = vscode.l10n;
    const heading = (label: string) => ({ label, kind: vscode.QuickPickItemKind.Separator });
    const choice = (label: string, change: Partial<Arrangement>) => {
      const chosen = { ...this.arrangement, ...change };
      const isNow = JSON.stringify(chosen) === JSON.stringify(this.arrangement);
      return { label: isNow ? `$(check) ${label}` : label, chosen };
    };
    const picked = await vscode.window.showQuickPick([
      heading(t("group by")),
      choice(t("Nothing"), { by: "none" }),
      choice(t("Project Folder"), { by: "folder" }),
      choice(t("Verdict"), { by: "verdict" }),
      choice(t("Month"), { by: "month" }),
      heading(t("show of a run")),
      choice(t("Slices"), { parts: "slices" }),
      choice(t("Dispatches"), { parts: "dispatches" }),
      heading(t("sort by")),
      choice(t("Last event"), { sorting: "last" }),
      choice(t("Worst Verdict"), { sorting: "verdict" }),
      choice(t("File"), { sorting: "file" }),
    ], { placeHolder: t("How are the runs to be grouped and sorted?") });
    if (picked !== undefined && "chosen" in picked) {
      this.arrangement = picked.chosen;
      await this.context.workspaceState.update(arrangementKey, this.arrangement);
      this.changes.fire(undefined);
    }
  }

  getParent(node: Node): Node | undefined {
    // Nothing but runs is revealed.
    const isInGroup = this.arrangement.by !== "none" && "run" in node;
    return isInGroup ? this.groups.find(({ runs }) => runs.includes(node)) : undefined;
  }

  getChildren(node?: Node): Node[] | Promise<Node[]> {
    const { by, parts } = this.arrangement;
    if (node === undefined) {
      return by === "none" ? this.shown : this.groups;
    }
    if ("group" in node) {
      return [...node.runs];
    }
    if ("symbol" in node) {
      return partsIn(node.within, node.symbol, parts);
    }
    if ("file" in node) {
      return partsOf(node, parts);
    }
    const files = node.run.files.map((file) => ({ of: node.run, file }));
    const [first, ...others] = files;
    return first !== undefined && others.length === 0 ? partsOf(first, parts) : files;
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const item = itemOf(node);
    if (!("group" in node)) {
      // Without arguments: VS Code forgets these when rows are drawn again, be it between a click and its command.
      item.command = { command: "driveTrace.openRun", title: vscode.l10n.t("Open") };
    }
    return item;
  }
}

function iconOfGroup(by: Grouping, [first]: readonly RunNode[]): vscode.ThemeIcon {
  if (by === "verdict" && first !== undefined) {
    return iconOf(first.run);
  }
  return by === "month" ? new vscode.ThemeIcon("calendar") : vscode.ThemeIcon.Folder;
}
