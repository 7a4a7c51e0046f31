import { mkdir, writeFile } from "node:fs/promises";
import * as path from "node:path";

import { run } from "./processes";
import { client } from "./set-up";

/** A folder that is on no disk. */
export const folder = "trial:/work";

/** A file system in the memory of the browser, as one of a forge is, and a command by which another writes to it. */
const main = (files: Readonly<Record<string, string>>, later: readonly [string, string]): string => `
const vscode = require("vscode");
const files = new Map(Object.entries(${JSON.stringify(files)}).map(([name, text]) => ["/work/" + name, new TextEncoder().encode(text)]));
const times = new Map();
const changes = new vscode.EventEmitter();
const below = (folder) => [...files.keys()].filter((name) => name.startsWith(folder + "/")).map((name) => name.slice(folder.length + 1));
const refuse = (uri) => { throw vscode.FileSystemError.FileNotFound(uri); };
const provider = {
  onDidChangeFile: changes.event,
  watch: () => new vscode.Disposable(() => {}),
  stat: (uri) => {
    const isFile = files.has(uri.path);
    if (!isFile && below(uri.path).length === 0) refuse(uri);
    return { type: isFile ? 1 : 2, ctime: 0, mtime: times.get(uri.path) ?? 1, size: files.get(uri.path)?.length ?? 0 };
  },
  readDirectory: (uri) => [...new Map(below(uri.path).map((name) => [name.split("/")[0], name.includes("/") ? 2 : 1]))],
  readFile: (uri) => files.get(uri.path) ?? refuse(uri),
  writeFile: (uri, data) => {
    const type = files.has(uri.path) ? 1 : 2;
    files.set(uri.path, data);
    times.set(uri.path, Date.now());
    changes.fire([{ type, uri }]);
  },
  createDirectory: () => {},
  delete: (uri) => { files.delete(uri.path); changes.fire([{ type: 3, uri }]); },
  rename: () => { throw vscode.FileSystemError.NoPermissions(); },
};
exports.activate = ({ subscriptions }) => subscriptions.push(
  vscode.workspace.registerFileSystemProvider("trial", provider),
  vscode.commands.registerCommand("trial.write", () => {
    const [name, text] = ${JSON.stringify(later)};
    const uri = vscode.Uri.parse("trial:/work/" + name);
    provider.writeFile(uri, new TextEncoder().encode(text));
  }),
);
`;

const manifest = {
  name: "memory-files",
  publisher: "trial",
  version: "0.0.1",
  engines: { vscode: "^1.90.0" },
  main: "./main.js",
  browser: "./main.js",
  activationEvents: ["onFileSystem:trial"],
  capabilities: { virtualWorkspaces: true },
  contributes: { commands: [{ command: "trial.write", title: "Trial: Let Another Write" }] },
};

/** Packages it with some files, and one with what is in it later; gives its file. */
export async function packageMemoryFiles(
  workshop: string, files: Readonly<Record<string, string>>, later: readonly [name: string, text: string],
): Promise<string> {
  await mkdir(workshop, { recursive: true });
  await writeFile(path.join(workshop, "package.json"), JSON.stringify(manifest));
  await writeFile(path.join(workshop, "main.js"), main(files, later));
  await writeFile(path.join(workshop, "README.md"), "A stand-in.\n");
  const vsce = path.join(client, "node_modules", ".bin", "vsce");
  const options = ["--no-dependencies", "--allow-missing-repository", "--skip-license", "--out", "files.vsix"];
  await run(vsce, ["package", ...options], { cwd: workshop });
  return path.join(workshop, "files.vsix");
}
