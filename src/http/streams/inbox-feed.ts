import { setImmediate as nextTurn } from "node:timers/promises";
import type { Host } from "../../engine/host.ts";
import { AppError } from "../../protocol/errors.ts";
import { InboxEntry } from "./inbox-entry.ts";
import type { InboxSubscriber } from "./inbox-subscriber.ts";

const RUNS_AT_ONCE = 500;
const PAGE_ROWS = 200;

/**
 * The open interrupts of one tenant, followed by this process. It reads for all its subscribers, one read after the
 * other: so nobody is shown an older state of anything after a newer one, and a change that comes during a read is read
 * after it.
 */
export class InboxFeed {
  readonly #host: Host;
  readonly #tenant: string;
  readonly #retryMs: number;
  readonly #report: (error: unknown) => void;
  readonly #subscribers = new Set<InboxSubscriber>();
  /** Runs to look at. */
  readonly #changed = new Set<string>();
  #told = false;
  #working = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(
    host: Host,
    { tenant, retryMs, report }: { tenant: string; retryMs: number; report: (error: unknown) => void },
  ) {
    this.#host = host;
    this.#tenant = tenant;
    this.#retryMs = retryMs;
    this.#report = report;
  }

  get subscribers(): ReadonlySet<InboxSubscriber> {
    return this.#subscribers;
  }

  add(subscriber: InboxSubscriber): void {
    this.#subscribers.add(subscriber);
    this.wake();
  }

  remove(subscriber: InboxSubscriber): void {
    this.#subscribers.delete(subscriber);
    if (this.#subscribers.size === 0) clearTimeout(this.#retry);
  }

  lookAt(runIds: readonly string[]): void {
    for (const runId of runIds) this.#changed.add(runId);
    this.wake();
  }

  recheck(): void {
    for (const subscriber of this.#subscribers) subscriber.recheck();
    this.wake();
  }

  wake(): void {
    this.#told = true;
    if (!this.#working) void this.#work();
  }

  async #work(): Promise<void> {
    this.#working = true;
    try {
      while (this.#told && this.#subscribers.size > 0) {
        this.#told = false;
        const changes = await this.#readChanges();
        const page = await this.#readPage();
        if (!changes && !page) continue;
        this.#told = true;
        await nextTurn();
      }
    } catch (error) {
      this.#trouble(error);
    } finally {
      this.#working = false;
    }
  }

  async #readChanges(): Promise<boolean> {
    const runIds = [...this.#changed].slice(0, RUNS_AT_ONCE);
    if (runIds.length === 0) return false;
    for (const runId of runIds) this.#changed.delete(runId);
    const rows = await this.#host.store.interruptsOfRuns({ tenant: this.#tenant }, runIds);
    const entries = rows.map((row) => new InboxEntry(this.#host, row, true));
    await eachOf([...this.#subscribers], (subscriber) => subscriber.takeChanges(runIds, entries));
    return true;
  }

  /** The next page for those who are furthest behind; whoever is at the same place shares it. */
  async #readPage(): Promise<boolean> {
    const cursors = [...this.#subscribers].flatMap(({ cursor }) => cursor ?? []);
    const [after] = cursors.sort();
    if (after === undefined) return false;
    const together = [...this.#subscribers].filter(({ cursor }) => cursor === after);
    const query = { after, limit: PAGE_ROWS, nowMs: this.#host.nowMs() };
    const rows = await this.#host.store.openInterrupts({ tenant: this.#tenant }, query);
    const entries = rows.map((row) => new InboxEntry(this.#host, row, false));
    await eachOf(together, async (subscriber) => {
      const absent = await subscriber.takePage(entries, rows.length < PAGE_ROWS);
      for (const runId of absent) this.#changed.add(runId);
    });
    return true;
  }

  /** What was read in vain is lost, so everything is read again: soon, when the database is away, else by the client. */
  #trouble(error: unknown): void {
    if (error instanceof AppError && error.mayRetry) {
      this.#changed.clear();
      for (const subscriber of this.#subscribers) subscriber.recheck();
      this.#retry = setTimeout(() => this.wake(), this.#retryMs).unref();
      return;
    }
    this.#report(error);
    for (const subscriber of [...this.#subscribers]) subscriber.cut();
  }
}

/** Throws the first failure, when all are done: the next read must not overtake those that still work on this one. */
async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const settled = await Promise.allSettled(items.map(work));
  for (const one of settled) if (one.status === "rejected") throw one.reason;
}
