import { mkdir, writeFile } from "node:fs/promises";
import * as path from "node:path";

import { run } from "./processes";
import { client } from "./set-up";

/** What the Python extension offers to others, as far as it is used, over one of its settings. */
const main = `
const vscode = require("vscode");
exports.activate = () => {
  const changes = new vscode.EventEmitter();
  vscode.workspace.onDidChangeConfiguration((change) => {
    if (change.affectsConfiguration("python.defaultInterpreterPath")) changes.fire({});
  });
  const active = () => vscode.workspace.getConfiguration("python").get("defaultInterpreterPath");
  return {
    environments: {
      getActiveEnvironmentPath: () => ({ id: active(), path: active() }),
      resolveEnvironment: async ({ path }) => ({ executable: { uri: vscode.Uri.file(path) } }),
      onDidChangeActiveEnvironmentPath: changes.event,
    },
  };
};
`;

const manifest = {
  name: "python",
  publisher: "ms-python",
  version: "0.0.1",
  engines: { vscode: "^1.90.0" },
  main: "./main.js",
  activationEvents: [],
  contributes: {
    configuration: { properties: { "python.defaultInterpreterPath": { type: "string", default: "python" } } },
  },
};

/** Packages a stand-in for the Python extension, which is not to be had without a marketplace; gives its file. */
export async function packagePythonExtension(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "package.json"), JSON.stringify(manifest));
  await writeFile(path.join(folder, "main.js"), main);
  await writeFile(path.join(folder, "README.md"), "A stand-in.\n");
  const vsce = path.join(client, "node_modules", ".bin", "vsce");
  const options = ["--no-dependencies", "--allow-missing-repository", "--skip-license", "--out", "python.vsix"];
  await run(vsce, ["package", ...options], { cwd: folder });
  return path.join(folder, "python.vsix");
}
