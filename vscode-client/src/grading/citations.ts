/** A part of a text, and what it names if it names something. */
export interface Piece {
  readonly text: string;
  /** A path as it is written; without one, a `line` is of the trace. */
  readonly path?: string;
  /** From 1. */
  readonly line?: number;
}

// It begins at the first character of a word only, so that a long text costs no more than its length.
const mention =
  /(?<![\p{L}\p{N}_@.+/-])(?<path>[\p{L}\p{N}_@.][\p{L}\p{N}_@.+/-]*\.[\p{L}\p{N}_]+)(?:(?::|#L|,? lines? )(?<at>\d{1,9}))?|\blines? (?<line>\d{1,9})\b/giu;
const isPath = /\/|^(?!e\.g$|i\.e$|v?\d+\.\d+$)[^.]+\.\w+$/i;

/**
 * The parts of a reason: a line without a path is of the file that is named before it, else of the
 * trace. Whether a file is there is for others to say.
 */
export function pieces(reason: string): Piece[] {
  const found: Piece[] = [];
  let end = 0;
  let named: string | undefined;
  for (const match of reason.matchAll(mention)) {
    const { path, at, line } = match.groups ?? {};
    if (path !== undefined && !isPath.test(path)) {
      continue;
    }
    named = path ?? named;
    const number = at ?? line;
    found.push(
      { text: reason.slice(end, match.index) },
      {
        text: match[0],
        ...(named === undefined ? {} : { path: named }),
        ...(number === undefined ? {} : { line: Number(number) }),
      },
    );
    end = match.index + match[0].length;
  }
  return [...found, { text: reason.slice(end) }].filter(({ text }) => text !== "");
}
