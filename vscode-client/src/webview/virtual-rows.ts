/** Rows of one height, of which only those in view are in the page: 100,000 cost what a screen costs. */
export interface Rows {
  readonly height: number;
  count(): number;
  /** Fills an element with a row. */
  fill(row: HTMLElement, index: number): void;
}

const beyond = 8;

export class VirtualRows {
  private readonly made = new Map<number, HTMLElement>();
  private isAsked = false;

  constructor(private readonly room: HTMLElement, private readonly body: HTMLElement, private readonly rows: Rows) {
    const ask = (): void => { this.ask(); };
    room.addEventListener("scroll", ask, { passive: true });
    new ResizeObserver(ask).observe(room);
  }

  /**
   * Draws all rows in view again: what they show, or how many there are, has changed. The last row
   * stays in view if it is.
   */
  refresh(): void {
    const atEnd = this.isAtEnd;
    this.body.style.height = `${this.rows.count() * this.rows.height}px`;
    if (atEnd) {
      this.room.scrollTop = this.room.scrollHeight;
    }
    this.draw();
    this.made.forEach((row, index) => { this.rows.fill(row, index); });
  }

  private get isAtEnd(): boolean {
    const { scrollTop, clientHeight, scrollHeight } = this.room;
    return scrollTop > 0 && scrollTop + clientHeight >= scrollHeight - 4;
  }

  get perPage(): number {
    return Math.max(1, Math.floor(this.room.clientHeight / this.rows.height) - 1);
  }

  show(index: number): void {
    const { height } = this.rows;
    const [top, room] = [index * height, this.room];
    if (top < room.scrollTop) {
      room.scrollTop = top;
    } else if (top + height > room.scrollTop + room.clientHeight) {
      room.scrollTop = top + height - room.clientHeight;
    }
    this.draw();
  }

  private ask(): void {
    if (!this.isAsked) {
      this.isAsked = true;
      requestAnimationFrame(() => {
        this.isAsked = false;
        this.draw();
      });
    }
  }

  private draw(): void {
    const { height } = this.rows;
    const first = Math.max(0, Math.floor(this.room.scrollTop / height) - beyond);
    const stop = Math.min(this.rows.count(), Math.ceil((this.room.scrollTop + this.room.clientHeight) / height) + beyond);
    this.made.forEach((row, index) => {
      if (index < first || index >= stop) {
        this.made.delete(index);
        row.remove();
      }
    });
    for (let index = first; index < stop; index += 1) {
      if (!this.made.has(index)) {
        const row = document.createElement("div");
        row.style.top = `${index * height}px`;
        row.style.height = `${height}px`;
        this.rows.fill(row, index);
        this.made.set(index, row);
        this.body.append(row);
      }
    }
  }
}
