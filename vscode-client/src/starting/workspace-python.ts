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

/** Milliseconds that the Python extension may take; it starts a server of its own before it answers. */
const patience = 3_000;

/**
 * The Python that the workspace uses, as the Python extension has it.
 *
 * Nothing without that extension, and nothing in a workspace that is not trusted, as the Python may
 * be part of it.
 */
export async function workspacePython(): Promise<string | undefined> {
  const tooLate = new Promise<undefined>((resolve) => { setTimeout(resolve, patience, undefined); });
  return Promise.race([activeInterpreter().catch(() => undefined), tooLate]);
}

/** Calls `changed` when another Python is chosen for the workspace. */
export async function watchWorkspacePython(changed: () => void): Promise<vscode.Disposable | undefined> {
  const python = await pythonExtension().catch(() => undefined);
  return python?.environments.onDidChangeActiveEnvironmentPath(changed);
}

async function activeInterpreter(): Promise<string | undefined> {
  const python = await pythonExtension();
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const active = python?.environments.getActiveEnvironmentPath(folder);
  const environment = active && (await python?.environments.resolveEnvironment(active));
  return environment?.executable.uri?.fsPath;
}

async function pythonExtension(): Promise<PythonExtension | undefined> {
  const extension = vscode.extensions.getExtension<PythonExtension>("ms-python.python");
  return vscode.workspace.isTrusted ? extension?.activate() : undefined;
}
