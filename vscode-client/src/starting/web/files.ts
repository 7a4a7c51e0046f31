import * as vscode from "vscode";

/** A file, and what is in it; undefined where it is gone. */
export type File = readonly [uri: vscode.Uri, data: Uint8Array | undefined];

/** The traces that a workspace may have, and its configuration. */
const wanted = /(\.jsonl|\/drive-trace\.toml)$/;
const glob = "{**/*.jsonl,**/drive-trace.toml}";
const passedOver = /^(node_modules|\.venv|venv|\.git)$/;

const mostFiles = 1_000;
const mostFolders = 200;
const mostBytes = 20_000_000;
const mostBytesOfAll = 100_000_000;

/** The files below some folders that the server is to see, and a line for each limit that was met. */
export async function filesIn(folders: readonly vscode.Uri[], note: (line: string) => void): Promise<File[]> {
  const found = await vscode.workspace.findFiles(glob, `**/{node_modules,.venv,venv,.git}/**`, mostFiles);
  const here = found.filter((uri) => folders.some(({ path, scheme }) => scheme === uri.scheme && uri.path.startsWith(path)));
  // Not every file system can be searched.
  const uris = here.length > 0 ? here : await walked(folders, note);
  if (uris.length >= mostFiles) {
    note(`Of the workspace, the first ${mostFiles} traces are read.`);
  }
  let rest = mostBytesOfAll;
  const files: File[] = [];
  for (const uri of uris) {
    const file = await read(uri, Math.min(rest, mostBytes), note);
    rest -= file[1]?.length ?? 0;
    files.push(file);
  }
  return files;
}

/** A file as it is now, where it is not too large. */
export async function read(uri: vscode.Uri, most = mostBytes, note: (line: string) => void = () => undefined): Promise<File> {
  try {
    const { size, type } = await vscode.workspace.fs.stat(uri);
    const isTaken = (type & vscode.FileType.File) !== 0 && size <= most;
    if (!isTaken) {
      note(`${uri.toString()} is not read: it has ${size} bytes, and at most ${most} are read.`);
    }
    return [uri, isTaken ? await vscode.workspace.fs.readFile(uri) : undefined];
  } catch {
    return [uri, undefined];
  }
}

export function isWanted({ path }: vscode.Uri): boolean {
  return wanted.test(path);
}

/** What stands in folders, the nearest first. */
async function walked(folders: readonly vscode.Uri[], note: (line: string) => void): Promise<vscode.Uri[]> {
  const waiting = [...folders];
  const found: vscode.Uri[] = [];
  let count = 0;
  for (let folder = waiting.shift(); folder !== undefined && found.length < mostFiles; folder = waiting.shift()) {
    count += 1;
    if (count > mostFolders) {
      note(`Of the workspace, the first ${mostFolders} folders are looked through.`);
      break;
    }
    const entries = await Promise.resolve(vscode.workspace.fs.readDirectory(folder)).catch(() => []);
    for (const [name, type] of entries) {
      const uri = vscode.Uri.joinPath(folder, name);
      if (type === vscode.FileType.Directory && !passedOver.test(name)) {
        waiting.push(uri);
      } else if (type === vscode.FileType.File && isWanted(uri)) {
        found.push(uri);
      }
    }
  }
  return found.slice(0, mostFiles);
}
