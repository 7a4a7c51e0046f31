export type Version = readonly [major: number, minor: number, patch: number];

/** The first version in a text such as `drive-trace, version 0.1.0`. */
export function parseVersion(text: string): Version | undefined {
  const [, major, minor, patch] = /\b(\d+)\.(\d+)\.(\d+)/.exec(text) ?? [];
  return major === undefined ? undefined : [Number(major), Number(minor), Number(patch)];
}

/** Whether a server does what a client needs: of the same major and minor version, and no older. */
export function isCompatible(server: Version, client: Version): boolean {
  return server[0] === client[0] && server[1] === client[1] && server[2] >= client[2];
}
