/**
 * What the server says, with the addresses in it spelled anew. Only runs have some: they name
 * traces on disk, which nobody may have opened, as the server spells them.
 */
export function respelled<T>(said: T, spell: (uri: string) => string): T {
  const runs = (said as { runs?: unknown } | null | undefined)?.runs;
  if (!Array.isArray(runs)) {
    return said;
  }
  const named = (runs as { files: { uri: string }[] }[]).map((run) => ({
    ...run,
    files: run.files.map((file) => ({ ...file, uri: spell(file.uri) })),
  }));
  return { ...said, runs: named };
}
