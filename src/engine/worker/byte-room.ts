interface Waiting {
  readonly amount: number;
  readonly admit: (release: () => void) => void;
}

/** A bounded amount that is taken and given back. Takers are served in the order they came; one who wants more than all gets all. */
export class ByteRoom {
  readonly #total: number;
  #free: number;
  #line: Waiting[] = [];

  constructor(total: number) {
    this.#total = total;
    this.#free = total;
  }

  get used(): number {
    return this.#total - this.#free;
  }

  get waiting(): number {
    return this.#line.length;
  }

  /** Undefined when there is no room now, or others wait for it. The release may be called more than once. */
  takeNow(wanted: number): (() => void) | undefined {
    const amount = Math.min(wanted, this.#total);
    if (this.#line.length > 0 || amount > this.#free) return undefined;
    return this.#admit(amount);
  }

  take(wanted: number): Promise<() => void> {
    const now = this.takeNow(wanted);
    if (now !== undefined) return Promise.resolve(now);
    return new Promise((admit) => void this.#line.push({ amount: Math.min(wanted, this.#total), admit }));
  }

  /** Undefined when there was no room in time. */
  takeWithin(wanted: number, withinMs: number): Promise<(() => void) | undefined> {
    const now = this.takeNow(wanted);
    if (now !== undefined) return Promise.resolve(now);
    return new Promise((resolve) => {
      const giveUp = setTimeout(() => {
        this.#line = this.#line.filter((one) => one !== waiting);
        resolve(undefined);
        this.#serve();
      }, withinMs);
      const waiting: Waiting = {
        amount: Math.min(wanted, this.#total),
        admit: (release) => {
          clearTimeout(giveUp);
          resolve(release);
        },
      };
      this.#line.push(waiting);
    });
  }

  #admit(amount: number): () => void {
    this.#free -= amount;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#free += amount;
      this.#serve();
    };
  }

  #serve(): void {
    for (let first = this.#line[0]; first !== undefined && first.amount <= this.#free; first = this.#line[0]) {
      this.#line.shift();
      first.admit(this.#admit(first.amount));
    }
  }
}
