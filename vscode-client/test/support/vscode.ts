/** What the modules under test use of VS Code, outside of VS Code. */
export const l10n = {
  t: (message: string, ...values: readonly unknown[]): string =>
    message.replace(/\{(\d+)\}/g, (_, index: string) => String(values[Number(index)])),
};

export class Uri {
  private constructor(readonly scheme: string, readonly path: string) {}

  static from({ scheme, path }: { scheme: string; path: string }): Uri {
    return new Uri(scheme, path);
  }

  static joinPath({ scheme, path }: Uri, name: string): Uri {
    return new Uri(scheme, `${path}/${name}`);
  }

  toString(): string {
    return `${this.scheme}:${this.path}`;
  }
}

export enum FileType { File = 1, Directory = 2 }

/** The files of the only file system, by their paths, with the bytes that they have. */
export const written = new Map<string, number>();

export const workspace = {
  fs: {
    stat: ({ path }: Uri) => Promise.resolve({ size: written.get(path) }),
    readFile: ({ path }: Uri) => Promise.resolve({ length: written.get(path) }),
    readDirectory: ({ path }: Uri) => {
      const below = [...written.keys()].filter((each) => each.startsWith(`${path}/`)).map((each) => each.slice(path.length + 1));
      const entries = below.map((each) => [each.split("/")[0], each.includes("/") ? FileType.Directory : FileType.File] as const);
      return Promise.resolve([...new Map(entries)]);
    },
  },
};
