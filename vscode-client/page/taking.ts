/** What was dropped or opened, as files with paths that lead nowhere else. */

export interface Kept {
  readonly name: string;
  readonly files: readonly (readonly [path: string, data: Uint8Array])[];
  readonly paths: readonly string[];
  /** The files of a folder that were not taken. */
  readonly leftOut?: readonly string[];
}

type Named = readonly [path: string, file: File];

const most = 200_000_000;
const wanted = /\.(jsonl|ndjson|json|toml|txt|log)$/i;

/** Those of some files that a command may read, at most 200 MB of them. */
export async function fromFiles(named: readonly Named[]): Promise<Kept> {
  const isFolder = named.some(([path]) => path.includes("/"));
  const some = isFolder ? named.filter(([path]) => wanted.test(path)) : named;
  const size = some.reduce((sum, [, file]) => sum + file.size, 0);
  if (some.length === 0) {
    throw new Error("There is no trace in what was dropped: a trace is a .jsonl file.");
  }
  if (size > most) {
    throw new Error(`What was dropped has ${Math.ceil(size / 1e6)} MB; a browser takes at most ${most / 1e6}.`);
  }
  const taken = new Set<string>();
  const files = await Promise.all(some.map(async ([path, file], index) => {
    const plain = harmless(path);
    const own = taken.has(plain) ? `${index + 1}/${plain}` : plain; // of another folder, with the same name
    taken.add(own);
    return [own, new Uint8Array(await file.arrayBuffer())] as const;
  }));
  const leftOut = named.filter((each) => !some.includes(each)).map(([path]) => path);
  const first = files[0]?.[0] ?? "";
  const name = isFolder ? first.split("/")[0] ?? "" : files.length === 1 ? first : `${files.length} files`;
  const paths = files.map(([path]) => path).filter((path) => !/\.(ndjson|toml)$/i.test(path));
  return { name, files, leftOut, paths: isFolder || paths.length === 0 ? ["."] : paths };
}

/** The stack of a browser ends Python between 1,000 and 2,000 levels. */
const mostLevels = 500;

/** Whether a line has brackets in each other beyond what Python in a browser bears. */
export function isTooDeep(data: Uint8Array): boolean {
  let level = 0;
  return data.some((byte) => {
    level = byte === 10 ? 0 : level + Number(byte === 91 || byte === 123) - Number(byte === 93 || byte === 125);
    return level > mostLevels;
  });
}

function harmless(path: string): string {
  return path.split(/[/\\]/).filter((part) => !["", ".", ".."].includes(part)).join("/") || "trace.jsonl";
}

/** The files of a drop, also those in its folders. */
export async function entriesOf(transfer: DataTransfer): Promise<Named[]> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  return (await Promise.all(entries.map((entry) => below(entry)))).flat();
}

async function below(entry: FileSystemEntry): Promise<Named[]> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => { (entry as FileSystemFileEntry).file(resolve, reject); });
    return [[entry.fullPath.slice(1), file]];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: FileSystemEntry[] = [];
  for (let some = [entry]; some.length > 0;) { // it gives a hundred at a time
    some = await new Promise<FileSystemEntry[]>((resolve, reject) => { reader.readEntries(resolve, reject); });
    found.push(...some);
  }
  return (await Promise.all(found.map((each) => below(each)))).flat();
}
