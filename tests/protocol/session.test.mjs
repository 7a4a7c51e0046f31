/** One session of an editor, spoken through Microsoft's own client library. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import protocol from "vscode-languageserver-protocol/node";

const root = fileURLToPath(new URL("../..", import.meta.url));
const programs = path.join(root, ".venv", "bin");
const tap = [path.join(programs, "python"), "-I", "-S", path.join(root, "tests", "support", "tap.py")];
const serve = [path.join(programs, "drive-trace"), "serve"];
const command = process.env.DRIVE_TRACE_MESSAGES ? [...tap, ...serve] : serve;

const uri = "file:///traces/session/trace.jsonl";
const agent = "grader-1";
const wrong = '"passed"';
const ids = ["0b9c2a4e-6f1d-4c3b-8a57-1d2e3f405160", "d4f1a7c2-93be-4e08-b6d5-7a20c95e18f3"];
const run = { project_run_id: "run-1", orchestrator_agent_id: agent, schema_version: "1", ts: "2026-05-28T14:00:00.000Z" };
const opened = [
  { event_type: "tokens-recorded", input_tokens: 1_900_000, output_tokens: 42_000, cache_read_tokens: null, cache_write_tokens: null },
  { event_type: "correctness-recorded", mechanical: "pass", qa: "passed", intent: "pass" },
].map((event, index) => `${JSON.stringify({ event_id: ids[index], ...run, ...event })}\n`).join("");

test("open, look, run the lens, edit, quit", { timeout: 60_000 }, async (context) => {
  const home = mkdtempSync(path.join(tmpdir(), "drive-trace-session-"));
  const mark = `DRIVE_TRACE_SESSION=${randomUUID()}`;
  const [name, value] = mark.split("=");
  const child = spawn(command[0], command.slice(1), {
    env: { ...process.env, HOME: home, DRIVE_TRACE_CACHE: home, [name]: value },
  });
  const closed = once(child, "close"); // the server, and whoever else holds its standard error
  const log = text(child.stderr);
  context.after(() => {
    child.kill("SIGKILL");
    rmSync(home, { recursive: true });
  });

  const editor = new Editor(child);
  const { capabilities } = await editor.initialize();
  assert.equal(capabilities.positionEncoding, "utf-16");
  assert.deepEqual(capabilities.executeCommandProvider.commands, ["driveTrace.showRun", "driveTrace.turnRuleOff", "driveTrace.addToBaseline", "driveTrace.showRule"]);

  editor.open(opened);
  const [found, ...more] = await editor.diagnostics();
  assert.deepEqual(more, []);
  assert.equal(found.code, "unknown-value");
  assert.deepEqual(found.range, editor.rangeOf(wrong));

  const hover = await editor.ask("textDocument/hover", { position: found.range.start });
  assert.match(hover.contents.value, /^\*\*not computable[^]*line 2[^]*\*\*qa\*\*/);
  assert.deepEqual(hover.range, found.range);

  assert.match((await editor.lens()).command.title, /^not computable: not graded · /);

  editor.replace(agent, `🚀 ${agent}`);
  const [moved] = await editor.diagnostics();
  assert.deepEqual(moved.range, editor.rangeOf(wrong));
  assert.equal(moved.range.start.character, found.range.start.character + "🚀 ".length);

  const [fix] = await editor.ask("textDocument/codeAction", { range: moved.range, context: { diagnostics: [moved] } });
  const [change] = fix.edit.documentChanges;
  assert.deepEqual(change.textDocument, { uri, version: 2 });
  assert.deepEqual(change.edits.map((edit) => [edit.range, edit.newText]), [[moved.range, '"pass"']]);

  editor.replace(wrong, '"pass"');
  assert.deepEqual(await editor.diagnostics(), []);

  const { command: lens } = await editor.lens();
  assert.match(lens.title, /^CORRECT · /);
  assert.equal(lens.command, "driveTrace.showRun");
  const card = await editor.connection.sendRequest("workspace/executeCommand", { command: lens.command, arguments: lens.arguments });
  assert.match(card, /^\*\*CORRECT\*\*/);
  assert.equal(editor.shown.length, 1);
  const page = fileURLToPath(editor.shown[0].uri);
  assert.ok(page.startsWith(home), page);
  assert.match(readFileSync(page, "utf8"), /^# CORRECT\n/);

  const unknown = { command: lens.command, arguments: [{ uri, runId: "run-2" }] };
  await assert.rejects(editor.connection.sendRequest("workspace/executeCommand", unknown), { code: -32602 });

  assert.deepEqual(editor.messages, []);
  if (existsSync("/proc/self/environ")) {
    assert.ok(processesWith(mark).includes(child.pid), "the server is among the processes that are looked for");
  }
  assert.equal(await editor.connection.sendRequest("shutdown"), null);
  await editor.connection.sendNotification("exit");
  assert.deepEqual(await closed, [0, null]);
  assert.deepEqual(processesWith(mark), []);
  assert.equal(log(), "");
});

/** An editor with one document. */
class Editor {
  shown = [];
  /** What it was told to show to its user, or to log. */
  messages = [];
  #published = new Map();
  #text = "";
  #version = 1;

  constructor(child) {
    const { createProtocolConnection, StreamMessageReader, StreamMessageWriter } = protocol;
    this.connection = createProtocolConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
    this.connection.onNotification("textDocument/publishDiagnostics", ({ version, diagnostics }) => {
      this.#publication(version).resolve(diagnostics);
    });
    this.connection.onRequest("window/showDocument", (params) => {
      this.shown.push(params);
      return { success: true };
    });
    this.connection.onRequest("workspace/codeLens/refresh", () => null);
    this.connection.onRequest("client/registerCapability", () => null);
    this.connection.onNotification("window/showMessage", (params) => { this.messages.push(params); });
    this.connection.onNotification("window/logMessage", (params) => { this.messages.push(params); });
    this.connection.listen();
  }

  async initialize() {
    const result = await this.connection.sendRequest("initialize", {
      processId: process.pid,
      clientInfo: { name: "session" },
      rootUri: null,
      capabilities: {
        general: { positionEncodings: ["utf-16"] },
        textDocument: {
          codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix"] } } },
          hover: { contentFormat: ["markdown"] },
          publishDiagnostics: { versionSupport: true },
        },
        window: { showDocument: { support: true } },
        workspace: { codeLens: { refreshSupport: true }, workspaceEdit: { documentChanges: true } },
      },
    });
    await this.connection.sendNotification("initialized", {});
    return result;
  }

  open(text) {
    this.#text = text;
    const textDocument = { uri, languageId: "drive-trace", version: this.#version, text };
    void this.connection.sendNotification("textDocument/didOpen", { textDocument });
  }

  replace(old, text) {
    const range = this.rangeOf(old);
    const at = this.#text.lastIndexOf(old);
    this.#text = this.#text.slice(0, at) + text + this.#text.slice(at + old.length);
    this.#version += 1;
    const textDocument = { uri, version: this.#version };
    void this.connection.sendNotification("textDocument/didChange", { textDocument, contentChanges: [{ range, text }] });
  }

  /** The range of a token's last occurrence. */
  rangeOf(token) {
    const lines = this.#text.slice(0, this.#text.lastIndexOf(token)).split("\n");
    const [line, character] = [lines.length - 1, lines.at(-1).length];
    return { start: { line, character }, end: { line, character: character + token.length } };
  }

  ask(method, params = {}) {
    return this.connection.sendRequest(method, { textDocument: { uri }, ...params });
  }

  /** The first lens, as it comes into view. */
  async lens() {
    const [lens] = await this.ask("textDocument/codeLens");
    return this.connection.sendRequest("codeLens/resolve", lens);
  }

  /** The diagnostics of the present version. */
  diagnostics() {
    return this.#publication(this.#version).promise;
  }

  #publication(version) {
    if (!this.#published.has(version)) {
      const publication = {};
      publication.promise = new Promise((resolve) => { publication.resolve = resolve; });
      this.#published.set(version, publication);
    }
    return this.#published.get(version);
  }
}

function text(stream) {
  const chunks = [];
  stream.setEncoding("utf8").on("data", (chunk) => chunks.push(chunk));
  return () => chunks.join("");
}

/** The running processes that inherited `mark` (`NAME=value`), where the system tells. */
function processesWith(mark) {
  const pids = existsSync("/proc/self/environ") ? readdirSync("/proc").filter((name) => /^\d+$/.test(name)) : [];
  return pids.map(Number).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(mark);
    } catch {
      return false; // ended in the meantime, or somebody else's
    }
  });
}
