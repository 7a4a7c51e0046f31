/** Cuts a stream into messages: each has a header with its length. */
export class Frames {
  private rest: Buffer = Buffer.alloc(0);

  constructor(private readonly found: (body: Uint8Array) => void) {}

  take(data: Buffer): void {
    this.rest = Buffer.concat([this.rest, data]);
    for (;;) {
      const end = this.rest.indexOf("\r\n\r\n");
      if (end === -1) {
        return;
      }
      const length = /content-length: *(\d+)/i.exec(this.rest.toString("latin1", 0, end))?.[1];
      const begin = end + 4;
      if (this.rest.length < begin + Number(length ?? 0)) {
        return;
      }
      if (length !== undefined) {
        this.found(new Uint8Array(this.rest.subarray(begin, begin + Number(length))));
      }
      this.rest = this.rest.subarray(begin + Number(length ?? 0));
    }
  }
}
