/**
 * Does one thing at a time, once nobody has asked for it for a moment: what is asked for meanwhile is
 * done once more afterwards. Before it is, as much time passes as the last took, so that what is
 * asked for all the time takes half of it.
 */
export class OneAtATime {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isActing = false;
  private isUrgent = false;
  /** When it was asked for first, of what is still to be done. */
  private since: number | undefined;
  private rested = 0;
  private isDisposed = false;

  /** `pause` are the milliseconds; after five of them it is done, however often it is asked for. */
  constructor(private readonly act: () => unknown, private readonly pause = 0) {}

  /** What is urgent waits for nothing but what is being done. */
  request(isUrgent = false): void {
    const now = Date.now();
    this.since ??= now;
    this.isUrgent ||= isUrgent;
    if (!this.isActing && !this.isDisposed) {
      clearTimeout(this.timer);
      const due = Math.max(this.rested, Math.min(now + this.pause, this.since + 5 * this.pause));
      this.timer = setTimeout(() => {
        this.since = undefined;
        this.isUrgent = false;
        void this.turn();
      }, this.isUrgent ? 0 : due - now);
    }
  }

  private async turn(): Promise<void> {
    const start = Date.now();
    this.isActing = true;
    try {
      await this.act();
    } finally {
      this.isActing = false;
      this.rested = 2 * Date.now() - start;
      if (this.since !== undefined) {
        this.request();
      }
    }
  }

  /** What is being done ends, and nothing is done afterwards. */
  dispose(): void {
    this.isDisposed = true;
    clearTimeout(this.timer);
  }
}
