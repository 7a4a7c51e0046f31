/**
 * Does one thing at a time: what is asked for meanwhile is done once more afterwards. Before it is,
 * as much time passes as the last took, so that what is asked for all the time takes half of it.
 */
export class OneAtATime {
  private isActing = false;
  private isAskedAgain = false;
  private isUrgent = false;
  private stopResting: (() => void) | undefined;

  constructor(private readonly act: () => Promise<void>) {}

  /** What is urgent does not wait for the rest. */
  async request(isUrgent = false): Promise<void> {
    this.isAskedAgain = true;
    if (isUrgent) {
      this.isUrgent = true;
      this.stopResting?.();
    }
    if (this.isActing) {
      return;
    }
    this.isActing = true;
    try {
      await this.actUntilDone();
    } finally {
      this.isActing = false;
    }
  }

  private async actUntilDone(): Promise<void> {
    while (this.isAskedAgain) {
      this.isAskedAgain = this.isUrgent = false;
      const start = Date.now();
      await this.act();
      await this.rest(Date.now() - start);
    }
  }

  private async rest(milliseconds: number): Promise<void> {
    if (this.isUrgent) {
      return;
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.stopResting = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.stopResting = undefined;
  }
}
