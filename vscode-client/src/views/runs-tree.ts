import * as vscode from "vscode";

import { link } from "../link";
import type { Run, RunFile } from "../protocol";
import { showLine } from "./places";
import { joined, looks, matching, Soon } from "./telling";

interface FileNode {
  readonly of: Run;
  readonly file: RunFile;
}

type Node = Run | FileNode;

/** Every run of the workspace, with its verdict. */
export class RunsTree implements vscode.TreeDataProvider<Node> {
  private readonly changes = new vscode.EventEmitter<undefined>();
  private readonly soon = new Soon(() => this.refresh(), 200);
  private readonly view: vscode.TreeView<Node>;
  private runs: readonly Run[] = [];
  private unread = 0;
  private sought = "";

  readonly onDidChangeTreeData = this.changes.event;

  constructor(context: vscode.ExtensionContext, private readonly need: () => Promise<void>) {
    this.view = vscode.window.createTreeView("driveTrace.runs", { treeDataProvider: this, showCollapseAll: true });
    const command = (name: string, act: (given: Node) => unknown): vscode.Disposable =>
      vscode.commands.registerCommand(`driveTrace.${name}`, act);
    context.subscriptions.push(
      this.view,
      this.soon,
      this.changes,
      command("openRun", (node) => {
        const file = "file" in node ? node.file : node.files[0];
        return file && showLine(file.uri, file.line, true);
      }),
      command("filterRuns", () => { this.askFilter(); }),
      command("clearRunFilter", () => { this.filter(""); }),
      command("refreshRuns", () => this.refresh()),
      link.onDidChange(() => { this.requestIfSeen(); }),
      this.view.onDidChangeVisibility(() => { this.requestIfSeen(); }),
    );
  }

  private requestIfSeen(): void {
    if (this.view.visible) {
      this.soon.request();
    }
  }

  private async refresh(): Promise<void> {
    await this.need();
    const said = await link.ask("driveTrace/runs", {});
    this.runs = said?.runs ?? [];
    this.unread = said?.unread ?? 0;
    this.show();
  }

  private show(): void {
    const count = matching(this.runs, this.sought).length;
    const filter = vscode.l10n.t("{0} of {1} runs match “{2}”", count, this.runs.length, this.sought);
    const unread = vscode.l10n.t("{0} traces are not read yet", this.unread);
    const message = joined(this.sought === "" ? "" : filter, this.unread === 0 ? "" : unread);
    this.view.message = message;
    this.changes.fire(undefined);
  }

  private filter(sought: string): void {
    this.sought = sought;
    void vscode.commands.executeCommand("setContext", "driveTrace.filtersRuns", sought !== "");
    this.show();
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
      return matching(this.runs, this.sought);
    }
    return "files" in node && node.files.length > 1 ? node.files.map((file) => ({ of: node, file })) : [];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const item = "file" in node ? fileItem(node) : runItem(node);
    item.command = { command: "driveTrace.openRun", title: vscode.l10n.t("Open"), arguments: [node] };
    return item;
  }
}

function runItem(run: Run): vscode.TreeItem {
  const { None, Collapsed } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(run.label, run.files.length > 1 ? Collapsed : None);
  const { icon, color } = looks[run.verdict];
  item.iconPath = new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
  item.description = joined(run.headline, findings(run.findings));
  item.tooltip = [run.label, run.title, findings(run.findings), ...run.files.map(({ name }) => name)]
    .filter((line) => line !== "").join("\n");
  item.contextValue = "run";
  item.id = [run.runId, run.files[0]?.uri].join("\n");
  return item;
}

function fileItem({ of, file }: FileNode): vscode.TreeItem {
  const item = new vscode.TreeItem(file.name);
  item.iconPath = vscode.ThemeIcon.File;
  item.description = findings(file.findings);
  item.id = [of.runId, of.files[0]?.uri, file.uri].join("\n");
  return item;
}

function findings(count: number): string {
  if (count === 0) {
    return "";
  }
  return count === 1 ? vscode.l10n.t("1 finding") : vscode.l10n.t("{0} findings", count);
}
