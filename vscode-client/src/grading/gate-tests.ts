import * as vscode from "vscode";

import { link } from "../link";
import { isTrace } from "../views/current";
import { OneAtATime } from "../views/one-at-a-time";
import { gateOf } from "./gates";
import { type Program, subjectOf } from "./program";
import { gateCommands } from "./settings";
import type { Gated } from "./words";

const gated: readonly Gated[] = ["mechanical", "qa"];

/** What a test stands for: a gate of a run. */
interface Gate {
  readonly uri: string;
  readonly runId: string;
  readonly component: Gated;
}

/**
 * The gates of open traces as tests: for those whose settings name commands, so that the view
 * Testing shows nothing elsewhere. What came of one is out of date once the run goes on after its grade.
 */
export class GateTests implements vscode.Disposable {
  private controller: vscode.TestController | undefined;
  private readonly gates = new WeakMap<vscode.TestItem, Gate>();
  private outdated: vscode.TestItem[] = [];
  private readonly turns = new OneAtATime(() => { this.update(); }, 300);
  private readonly listening: vscode.Disposable[];

  constructor(private readonly program: Program, private readonly memory: vscode.Memento) {
    const look = (): void => { this.turns.request(); };
    this.listening = [
      vscode.workspace.onDidOpenTextDocument(look),
      vscode.workspace.onDidCloseTextDocument(look),
      vscode.workspace.onDidChangeConfiguration(look),
      vscode.workspace.onDidGrantWorkspaceTrust(look),
      link.onDidChange(look),
    ];
    look();
  }

  private update(): void {
    const traces = vscode.workspace.isTrusted ? vscode.workspace.textDocuments.filter((each) => isTrace(each) && each.uri.scheme === "file") : [];
    const named = traces.filter(({ uri }) => gated.some((component) => gateCommands(component, uri).length > 0));
    if (named.length > 0 || this.controller !== undefined) {
      const controller = (this.controller ??= this.create());
      this.outdated = [];
      controller.items.replace(named.flatMap((document) => this.runsOf(document, controller)));
      this.outdated.forEach((each) => { controller.invalidateTestResults(each); });
    }
  }

  private create(): vscode.TestController {
    const controller = vscode.tests.createTestController("driveTrace.gates", vscode.l10n.t("Drive Trace: gates"));
    const profile = vscode.l10n.t("Run the Gates");
    controller.createRunProfile(profile, vscode.TestRunProfileKind.Run, (request, token) => this.run(controller, request, token), true);
    return controller;
  }

  /** A test for each run, with its gates, which stand at its grade if it has one. */
  private runsOf(document: vscode.TextDocument, controller: vscode.TestController): vscode.TestItem[] {
    const [first, last, graded] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
    document.getText().split("\n").forEach((text, line) => {
      const runId = /"project_run_id":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1];
      if (runId !== undefined) {
        first.set(runId, first.get(runId) ?? line);
        last.set(runId, line);
        if (text.includes('"event_type":"correctness-recorded"')) {
          graded.set(runId, line);
        }
      }
    });
    return [...first].map(([written, line]) => {
      const runId = JSON.parse(`"${written}"`) as string;
      const item = controller.createTestItem([document.uri.toString(), runId].join("\n"), runId, document.uri);
      item.description = vscode.workspace.asRelativePath(document.uri);
      item.range = new vscode.Range(line, 0, line, 0);
      const named = gated.filter((component) => gateCommands(component, document.uri).length > 0);
      item.children.replace(named.map((component) => {
        const gate = controller.createTestItem(component, component, document.uri);
        const at = graded.get(written) ?? line;
        gate.range = new vscode.Range(at, 0, at, 0);
        this.gates.set(gate, { uri: link.uriOf(document), runId, component });
        return gate;
      }));
      if (graded.get(written) !== last.get(written)) {
        this.outdated.push(item);
      }
      return item;
    });
  }

  private async run(controller: vscode.TestController, request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> {
    const run = controller.createTestRun(request);
    const wanted = request.include ?? [...controller.items].map(([, item]) => item);
    const items = wanted.flatMap((item) => (item.children.size > 0 ? [...item.children].map(([, child]) => child) : [item]));
    for (const item of items.filter((each) => !request.exclude?.includes(each))) {
      const gate = this.gates.get(item);
      if (gate !== undefined && !token.isCancellationRequested) {
        await this.judge(run, item, gate);
      }
    }
    run.end();
  }

  /** Runs the commands of one gate, once a person has seen them; what comes of it is recorded. */
  private async judge(run: vscode.TestRun, item: vscode.TestItem, gate: Gate): Promise<void> {
    const { component, uri, runId } = gate;
    const subject = await subjectOf({ uri, runId });
    const start = subject && (await gateOf(component, subject, this.program, this.memory));
    if (start === undefined) {
      run.skipped(item);
      return;
    }
    run.started(item);
    const ended = await start();
    const said = [ended?.errors, ended?.output].filter(Boolean).join("\n");
    run.appendOutput(said.replace(/\r?\n/g, "\r\n"), undefined, item);
    if (ended === undefined) {
      run.skipped(item);
    } else if (ended.code === 0) {
      run.passed(item);
    } else {
      run[ended.code === 1 ? "failed" : "errored"](item, new vscode.TestMessage(said));
    }
  }

  dispose(): void {
    this.turns.dispose();
    this.listening.forEach((each) => { each.dispose(); });
    this.controller?.dispose();
  }
}
