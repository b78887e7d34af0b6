import { setImmediate as nextTurn } from "node:timers/promises";
import type { ShownItem } from "../../engine/gates/decide/inbox-item.ts";
import { gateViews } from "../../engine/gates/inbox.ts";
import type { Host } from "../../engine/host.ts";
import { AppError } from "../../protocol/errors.ts";
import type { StoredInterrupt } from "../../store/port/gates.ts";
import type { Change } from "../../store/port/store.ts";
import type { InboxSubscriber } from "./inbox-feeds.ts";
import { forEachSubscriber } from "./stream-subscriber.ts";

/** An interrupt that is read once for all subscribers; its item is made once, for the first subscriber that may see it. */
export class InboxEntry {
  readonly row: StoredInterrupt;
  /** Whether it was read because its run has changed. */
  readonly isChange: boolean;
  readonly #view: ReturnType<typeof gateViews>;
  #item: Promise<ShownItem | undefined> | undefined;

  constructor(view: ReturnType<typeof gateViews>, row: StoredInterrupt, isChange: boolean) {
    this.#view = view;
    this.row = row;
    this.isChange = isChange;
  }

  /** Undefined when the interrupt is open and cannot be answered. */
  item(): Promise<ShownItem | undefined> {
    this.#item ??= this.#view(this.row);
    return this.#item;
  }
}

/** Few: each may have hundreds of interrupts. */
const RUNS_AT_ONCE = 25;
const PAGE_ROWS = 200;

/**
 * The open interrupts of one tenant. It reads for all its subscribers, one read after the other, so that an older state is never sent
 * after a newer one, and a change that comes during a read is read after it.
 */
export class InboxFeed {
  readonly #host: Host;
  readonly #tenant: string;
  readonly #retryMs: number;
  readonly #report: (error: unknown) => void;
  readonly #subscribers = new Set<InboxSubscriber>();
  /** Runs whose interrupts are to be read. */
  readonly #changed = new Set<string>();
  #isDue = false;
  #isReading = false;
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

  get isIdle(): boolean {
    return this.#subscribers.size === 0;
  }

  add(subscriber: InboxSubscriber): void {
    this.#subscribers.add(subscriber);
    this.resume();
  }

  remove(subscriber: InboxSubscriber): void {
    this.#subscribers.delete(subscriber);
    if (this.#subscribers.size === 0) clearTimeout(this.#retry);
  }

  changed({ runIds, keys }: Change): void {
    if (runIds === "all" || keys) {
      for (const subscriber of this.#subscribers) subscriber.recheck();
      this.resume();
    }
    if (runIds !== "all" && runIds.length > 0) {
      for (const runId of runIds) this.#changed.add(runId);
      this.resume();
    }
  }

  resume(): void {
    this.#isDue = true;
    if (!this.#isReading) void this.#read();
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    try {
      while (this.#isDue && this.#subscribers.size > 0) {
        this.#isDue = false;
        const changes = await this.#readChanges();
        const page = await this.#readPage();
        if (!changes && !page) continue;
        this.#isDue = true;
        await nextTurn();
      }
    } catch (error) {
      this.#databaseError(error);
    } finally {
      this.#isReading = false;
    }
  }

  async #readChanges(): Promise<boolean> {
    const runIds = [...this.#changed].slice(0, RUNS_AT_ONCE);
    if (runIds.length === 0) return false;
    for (const runId of runIds) this.#changed.delete(runId);
    const rows = await this.#host.store.interruptsOfRuns({ tenant: this.#tenant }, runIds);
    const view = gateViews(this.#host);
    const entries = rows.map((row) => new InboxEntry(view, row, true));
    await forEachSubscriber([...this.#subscribers], (subscriber) => subscriber.takeChanges(runIds, entries));
    return true;
  }

  /** The next page for the subscribers that are furthest behind; all subscribers at the same place share it. */
  async #readPage(): Promise<boolean> {
    const cursors = [...this.#subscribers].flatMap(({ cursor }) => cursor ?? []);
    const [after] = cursors.sort();
    if (after === undefined) return false;
    const together = [...this.#subscribers].filter(({ cursor }) => cursor === after);
    const query = { after, limit: PAGE_ROWS, nowMs: this.#host.nowMs() };
    const rows = await this.#host.store.openInterrupts({ tenant: this.#tenant }, query);
    const view = gateViews(this.#host);
    const entries = rows.map((row) => new InboxEntry(view, row, false));
    await forEachSubscriber(together, async (subscriber) => {
      const absent = await subscriber.takePage(entries, rows.length === 0);
      for (const runId of absent) this.#changed.add(runId);
    });
    return true;
  }

  /** A failed read may have lost changes, so everything is read again: by this feed when the error may be retried, else by the clients. */
  #databaseError(error: unknown): void {
    if (error instanceof AppError && error.mayRetry) {
      this.#changed.clear();
      for (const subscriber of this.#subscribers) subscriber.recheck();
      this.#retry = setTimeout(() => this.resume(), this.#retryMs).unref();
      return;
    }
    this.#report(error);
    for (const subscriber of [...this.#subscribers]) subscriber.cut();
  }
}
