import * as vscode from "vscode";

/** What is used of the Python extension's interface. */
interface PythonExtension {
  readonly environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
    resolveEnvironment(environment: { readonly path: string }): Promise<
      { readonly executable: { readonly uri?: vscode.Uri } } | undefined
    >;
    readonly onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

/** Milliseconds that a start waits for the Python extension, which may have to start itself first. */
const patience = 400;

/**
 * The Pythons that the folders of the workspace use, as the Python extension has them.
 *
 * None without that extension, and none in a workspace that is not trusted, as a Python may be part
 * of it.
 */
export class WorkspacePython implements vscode.Disposable {
  private extension: PythonExtension | undefined;
  private listening: vscode.Disposable | undefined;
  private known: readonly string[] = [];
  private given: readonly string[] | undefined;

  /** `changed` is called when they are others than those that were given last. */
  constructor(private readonly changed: () => void) {}

  /** Those that are known in a short time, the first folder's first. */
  async interpreters(): Promise<readonly string[]> {
    const tooLong = new Promise<void>((resolve) => { setTimeout(resolve, patience); });
    await Promise.race([this.look().catch(() => undefined), tooLong]);
    this.given = vscode.workspace.isTrusted ? this.known : [];
    return this.given;
  }

  dispose(): void {
    this.listening?.dispose();
  }

  private async look(): Promise<void> {
    const python = (this.extension ??= await this.activate());
    this.known = python === undefined ? [] : await activeInterpreters(python);
    if (this.given !== undefined && this.given.join("\n") !== this.known.join("\n")) {
      this.given = this.known;
      this.changed();
    }
  }

  private async activate(): Promise<PythonExtension | undefined> {
    const extension = vscode.extensions.getExtension<PythonExtension>("ms-python.python");
    const python = vscode.workspace.isTrusted ? await extension?.activate() : undefined;
    this.listening ??= python?.environments.onDidChangeActiveEnvironmentPath(() => {
      void this.look().catch(() => undefined);
    });
    return python;
  }
}

async function activeInterpreters({ environments }: PythonExtension): Promise<string[]> {
  const folders = vscode.workspace.workspaceFolders?.map(({ uri }) => uri) ?? [undefined];
  const found = await Promise.all(folders.map(async (folder) => {
    const active = await environments.resolveEnvironment(environments.getActiveEnvironmentPath(folder));
    return active?.executable.uri?.fsPath;
  }));
  return [...new Set(found.filter((file) => file !== undefined))];
}
