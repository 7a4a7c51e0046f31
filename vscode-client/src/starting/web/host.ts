import * as vscode from "vscode";
import { BrowserMessageReader } from "vscode-languageclient/browser";
import type { LanguageClientOptions } from "vscode-languageclient/node";

import { language } from "../../language";
import type { Host, Running } from "../../server";
import type { Choice } from "../choice";
import { inWebAssembly } from "../wasm/command";
import { TextWriter, type Told } from "../wasm/messages";
import { partsOf, pathOf } from "./addresses";
import { type File, filesIn, isWanted, read } from "./files";

/** What a worker needs of the folder that wasm.mjs has filled. */
const parts = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json", "_core.so"];

/**
 * The server in a worker of the browser.
 *
 * It asks for files as any program does, at once, which no file system of VS Code can answer: so it
 * has copies of the workspace's traces in its memory, at paths that mirror their addresses. It
 * writes to none of them, as there are no locks: what a person records goes through the editor.
 */
export class BrowserHost implements Host {
  private worker: Worker | undefined;

  constructor(private readonly context: vscode.ExtensionContext, private readonly log: vscode.LogOutputChannel) {}

  readonly options: Partial<LanguageClientOptions> = {
    uriConverters: {
      code2Protocol: (uri) => {
        const path = pathOf(uri);
        return path === undefined ? uri.toString() : vscode.Uri.file(path).toString();
      },
      protocol2Code: (text) => {
        const uri = vscode.Uri.parse(text);
        const parts = uri.scheme === "file" ? partsOf(uri.path) : undefined;
        return parts === undefined ? uri : vscode.Uri.from(parts);
      },
    },
    middleware: {
      didOpen: (document, next) => this.keepSaved(document, next),
      didSave: (document, next) => this.keepSaved(document, next),
      workspace: {
        didChangeWatchedFile: async (event, next) => {
          const uri = this.options.uriConverters?.protocol2Code(event.uri);
          if (uri !== undefined && isWanted(uri)) {
            this.keep([await read(uri, this.note)]);
          }
          await next(event);
        },
        didChangeWorkspaceFolders: async (event, next) => {
          this.keep(await filesIn(event.added.map(({ uri }) => uri), this.note));
          await next(event);
        },
      },
    },
  };

  choose(): Promise<Choice> {
    return Promise.resolve(inWebAssembly);
  }

  /** The worker has an address that VS Code's own workers may load, and what it needs is sent to it. */
  async launch(): Promise<Running> {
    const script = await this.part("dist", "worker.js");
    const worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
    this.worker = worker;
    const ended = new Promise<void>((resolve) => {
      worker.addEventListener("error", ({ message }) => {
        this.log.appendLine(`The server has ended (${message}).`);
        worker.terminate();
        resolve();
      });
    });
    const begin = async (): Promise<void> => {
      const read = async (name: string, ...folder: string[]) => [name, await this.part("server", "wasm", ...folder, name)] as const;
      this.tell({ begin: new Map(await Promise.all([read("packages.bin"), ...parts.map((name) => read(name, "pyodide"))])) });
    };
    const folders = vscode.workspace.workspaceFolders?.map(({ uri }) => uri) ?? [];
    const [files] = await Promise.all([filesIn(folders, this.note), begin()]);
    this.keep(files);
    vscode.workspace.textDocuments.forEach((document) => void this.keepSaved(document));
    const transports = { reader: new BrowserMessageReader(worker), writer: new TextWriter(worker) };
    return { transports, ended, kill: () => { worker.terminate(); } };
  }

  private async part(...names: string[]): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await vscode.workspace.fs.readFile(vscode.Uri.joinPath(this.context.extensionUri, ...names)));
  }

  private readonly note = (line: string): void => { this.log.appendLine(line); };

  private tell(told: Told): void {
    this.worker?.postMessage(told);
  }

  private keep(files: readonly File[]): void {
    this.tell({ files: files.flatMap(([uri, data]) => {
      const path = pathOf(uri);
      return path === undefined ? [] : [[path, data]];
    }) });
  }

  /** The file of a document that has no changes is as the document is. */
  private keepSaved(document: vscode.TextDocument, next?: (document: vscode.TextDocument) => Promise<void>): Promise<void> {
    if (!document.isDirty && document.languageId === language) {
      this.keep([[document.uri, new TextEncoder().encode(document.getText())]]);
    }
    return next?.(document) ?? Promise.resolve();
  }
}
