import { AbstractMessageWriter, type Message } from "vscode-languageclient/node";

/** What a worker is told: one of these at a time. */
export interface Told {
  /** The parts of Pyodide and the packages, by the names of their files: the first message in a browser. */
  readonly begin?: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
  /** Folders of the machine that it is to see. */
  readonly folders?: readonly string[];
  /** Files to keep at these paths; undefined is in one that is gone. */
  readonly files?: readonly (readonly [path: string, data: Uint8Array | undefined])[];
  /** A message of the protocol. */
  readonly message?: string;
}

/** Sends messages as text: settings are in some, which cannot be sent as they are. */
export class TextWriter extends AbstractMessageWriter {
  constructor(private readonly worker: { postMessage(told: Told): void }) {
    super();
  }

  write(message: Message): Promise<void> {
    this.worker.postMessage({ message: JSON.stringify(message) });
    return Promise.resolve();
  }

  end(): void {
    // The worker ends when it is told to exit.
  }
}
