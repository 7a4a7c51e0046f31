/** What counts of a group of editors for where something is shown. */
export interface Group<C extends number = number> {
  readonly column: C;
  /** The files in its tabs, and the one that is in view. */
  readonly files: readonly string[];
  readonly shown: string | undefined;
  /** Whether a view of ours is what it shows. */
  readonly showsView: boolean;
}

/**
 * The column to show a file in: where it is open, else where it covers no view; undefined where
 * that takes a new one. Never the one that must stay as it is.
 */
export function columnFor<C extends number>(file: string, groups: readonly Group<C>[], kept?: C): C | undefined {
  const others = groups.filter(({ column }) => column !== kept);
  const found =
    others.find(({ shown }) => shown === file) ??
    others.find(({ files }) => files.includes(file)) ??
    nearest(others.filter(({ showsView }) => !showsView), kept ?? 0);
  return found?.column;
}

/** On the left rather than on the right, as views open on the right of their traces. */
function nearest<C extends number>(groups: readonly Group<C>[], column: number): Group<C> | undefined {
  const distance = (group: Group<C>): number => Math.abs(group.column - column);
  return groups.toSorted((one, other) => distance(one) - distance(other) || one.column - other.column)[0];
}

/** The column of a new view: that of the other views, unless it is the one somebody works in. */
export function columnOfViews<C extends number>(columns: readonly (C | undefined)[], active: C | undefined): C | undefined {
  return columns.find((column) => column !== undefined && column !== active);
}
