import * as vscode from "vscode";

/** A file, and what is in it; undefined where it is gone. */
export type File = readonly [uri: vscode.Uri, data: Uint8Array | undefined];

type Note = (line: string) => void;

/** The traces that a workspace may have, and its configuration. */
const wanted = /(\.jsonl|\/drive-trace\.toml)$/;
const passedOver = /^(node_modules|\.venv|venv|\.git)$/;

const mostFiles = 1_000;
const mostFolders = 1_000;
const mostBytes = 20_000_000;
const mostBytesOfAll = 100_000_000;

/** The files below some folders that the server is to see, the nearest first; what is left out is noted. */
export async function filesIn(folders: readonly vscode.Uri[], note: Note): Promise<File[]> {
  const uris = await walked(folders, note);
  if (uris.length > mostFiles) {
    note(`Of ${uris.length} traces in the workspace, ${mostFiles} are read.`);
  }
  let rest = mostBytesOfAll;
  const files: File[] = [];
  for (const uri of uris.slice(0, mostFiles)) {
    const file = await read(uri, note, Math.min(rest, mostBytes));
    rest -= file[1]?.length ?? 0;
    files.push(file);
  }
  return files;
}

/** A file as it is now, where it is not too large. */
export async function read(uri: vscode.Uri, note: Note, most = mostBytes): Promise<File> {
  try {
    const { size } = await vscode.workspace.fs.stat(uri);
    if (size > most) {
      note(`${uri.toString()} is not read: it has ${size} bytes, and at most ${most} are read.`);
      return [uri, undefined];
    }
    return [uri, await vscode.workspace.fs.readFile(uri)];
  } catch (error) {
    note(`${uri.toString()} cannot be read: ${String(error)}`);
    return [uri, undefined];
  }
}

export function isWanted({ path }: vscode.Uri): boolean {
  return wanted.test(path);
}

/** Looks through folders itself: VS Code finds nothing, and never says so, in a file system that nobody can search. */
async function walked(folders: readonly vscode.Uri[], note: Note): Promise<vscode.Uri[]> {
  const found: vscode.Uri[] = [];
  let count = 0;
  for (let level = folders; level.length > 0;) {
    const looked = level.slice(0, mostFolders - count);
    if (looked.length < level.length) {
      note(`Of the workspace, ${mostFolders} folders are looked through.`);
    }
    count += looked.length;
    const entries = (await Promise.all(looked.map((folder) => entriesOf(folder, note)))).flat();
    const isOf = (kind: vscode.FileType) => ([, type]: Entry): boolean => type === kind;
    found.push(...entries.filter(isOf(vscode.FileType.File)).map(([uri]) => uri).filter(isWanted));
    level = entries.filter(isOf(vscode.FileType.Directory)).map(([uri]) => uri);
  }
  return found;
}

type Entry = readonly [vscode.Uri, vscode.FileType];

/** What is in a folder, without links, which may lead back. */
async function entriesOf(folder: vscode.Uri, note: Note): Promise<Entry[]> {
  const entries = await Promise.resolve(vscode.workspace.fs.readDirectory(folder)).catch((error: unknown) => {
    note(`${folder.toString()} cannot be read: ${String(error)}`);
    return [];
  });
  return entries.filter(([name]) => !passedOver.test(name)).map(([name, type]) => [vscode.Uri.joinPath(folder, name), type]);
}
