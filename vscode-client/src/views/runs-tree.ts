import * as vscode from "vscode";

import { link } from "../link";
import type { Run, Runs } from "../protocol";
import { OneAtATime } from "./one-at-a-time";
import { type FileNode, type RunNode, showLine } from "./places";
import { aboveRuns, joined, lookOf, matching, Soon } from "./telling";

type Node = RunNode | FileNode;

/** Every run of the workspace, with its verdict. */
export class RunsTree implements vscode.TreeDataProvider<Node> {
  private readonly changes = new vscode.EventEmitter<Node[] | undefined>();
  private readonly refreshing = new OneAtATime(() => this.refresh());
  private readonly soon = new Soon(() => this.refreshing.request(), 200);
  private readonly view: vscode.TreeView<Node>;
  /** What was said last; undefined where nothing was said yet. */
  private said: Runs | undefined;
  private nodes = new Map<string, RunNode>();
  private sought = "";

  readonly onDidChangeTreeData = this.changes.event;

  constructor(context: vscode.ExtensionContext, private readonly need: () => Promise<void>) {
    this.view = vscode.window.createTreeView("driveTrace.runs", { treeDataProvider: this, showCollapseAll: true });
    const command = (name: string, act: () => unknown): vscode.Disposable =>
      vscode.commands.registerCommand(`driveTrace.${name}`, act);
    context.subscriptions.push(
      this.view,
      this.soon,
      this.changes,
      command("openRun", () => this.openChosen()),
      command("filterRuns", () => { this.askFilter(); }),
      command("clearRunFilter", () => { this.filter(""); }),
      command("refreshRuns", () => this.lookAgain()),
      link.onDidChange(() => {
        if (this.view.visible) {
          this.soon.request();
        }
      }),
      link.onDidChangeHealth(() => { this.tell(); }),
      this.view.onDidChangeVisibility(({ visible }) => {
        if (visible) {
          void this.refreshing.request(true);
        }
      }),
    );
    this.tell();
  }

  private openChosen(): unknown {
    const [node] = this.view.selection;
    const file = node && ("file" in node ? node.file : node.run.files[0]);
    return file && showLine(file.uri, file.line, { preview: true });
  }

  /** Tries to start the server again where it is not there, which `need` does not. */
  private async lookAgain(): Promise<void> {
    if (link.health === "absent") {
      await vscode.commands.executeCommand("driveTrace.restartServer");
    }
    await this.refreshing.request(true);
  }

  /** What was said last stays while there is nobody to ask. */
  private async refresh(): Promise<void> {
    if (link.health !== "absent") {
      await this.need();
    }
    const said = await link.ask("driveTrace/runs", {});
    if (said !== undefined) {
      this.take(said);
    }
    this.tell();
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

  /** The runs that match the filter. */
  private get shown(): RunNode[] {
    return matching(this.runs, this.sought).flatMap((run) => this.nodes.get(keyOf(run)) ?? []);
  }

  private get runs(): readonly Run[] {
    return this.said?.runs ?? [];
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
    input.placeholder = vscode.l10n.t("Words of a run's id, verdict or file, such as: incorrect checkout");
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

  getChildren(node?: Node): Node[] {
    if (node === undefined) {
      return this.shown;
    }
    return "run" in node && node.run.files.length > 1 ? node.run.files.map((file) => ({ of: node.run, file })) : [];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const item = "file" in node ? fileItem(node) : runItem(node.run);
    // Without arguments: VS Code forgets these when rows are drawn again, be it between a click and its command.
    item.command = { command: "driveTrace.openRun", title: vscode.l10n.t("Open") };
    return item;
  }
}

function runItem(run: Run): vscode.TreeItem {
  const { None, Collapsed } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(run.label, run.files.length > 1 ? Collapsed : None);
  const { icon, color } = lookOf(run);
  item.iconPath = new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
  item.description = joined(run.headline, findings(run.findings), run.folder);
  item.tooltip = [run.label, run.title, ...run.caveats, findings(run.findings), ...run.files.map(({ name }) => name)]
    .filter((line) => line !== "").join("\n");
  item.contextValue = "driveTrace.run";
  item.id = keyOf(run);
  return item;
}

/** Runs of one id are apart in traces from outside the workspace. */
function keyOf(run: Run): string {
  return [run.runId, run.files[0]?.uri].join("\n");
}

function fileItem({ of, file }: FileNode): vscode.TreeItem {
  const item = new vscode.TreeItem(file.name);
  item.iconPath = vscode.ThemeIcon.File;
  item.contextValue = "driveTrace.runFile";
  item.description = findings(file.findings);
  item.id = [keyOf(of), file.uri].join("\n");
  return item;
}

function findings(count: number): string {
  if (count === 0) {
    return "";
  }
  return count === 1 ? vscode.l10n.t("1 finding") : vscode.l10n.t("{0} findings", count);
}
