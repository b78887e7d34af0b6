import type { ServerResponse } from "node:http";
import { isOverdue } from "../../engine/gates/decide/close-interrupt.ts";
import { itemFor, waitsFor } from "../../engine/gates/decide/inbox-item.ts";
import { votersFor } from "../../engine/gates/inbox.ts";
import type { Host } from "../../engine/host.ts";
import { pauses } from "../../engine/worker/pauses.ts";
import { defined } from "../../protocol/defined.ts";
import type { InboxClosed, InboxEvent, InboxFilter } from "../../protocol/gates/inbox-api.ts";
import type { Interrupt } from "../../protocol/gates/interrupt.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { StoredInterrupt } from "../../store/port/gates.ts";
import { plainFrame } from "./event-frames.ts";
import { type InboxEntry, InboxFeed } from "./inbox-feed.ts";
import { type StreamDeps, type StreamOutput, StreamSubscriber } from "./stream-subscriber.ts";
import { TenantFeeds } from "./tenant-feeds.ts";

interface InboxSubscription {
  readonly caller: Caller;
  readonly filter: InboxFilter;
}

/** An interrupt that its reader knows to be open. */
interface Known {
  readonly runId: string;
  readonly votes: string;
  /** The last pass that met it. */
  readonly pass: number;
}

const ENTRIES_AT_ONCE = 100;

interface InboxFrame {
  readonly event: InboxEvent;
  readonly data: object;
  /** The interrupt as the reader knows it afterwards; absent when it is closed. */
  readonly known?: Known;
}

/**
 * One connection that follows the inbox of its caller. It compares each entry of the feed with the state its reader knows, so nothing is sent
 * twice, and missed changes are made up for by reading all open interrupts once more (a pass). While its socket is full it takes no entries.
 */
export class InboxSubscriber extends StreamSubscriber {
  readonly #host: Host;
  readonly #subscription: InboxSubscription;
  readonly #known = new Map<string, Known>();
  #voters: ReturnType<typeof votersFor>;
  #pass = 1;
  /** The last interrupt that this pass has met; undefined between passes. */
  #cursor: string | undefined = "";
  /** Another pass is due after this one. */
  #again = false;
  #snapshotSent = false;

  constructor(host: Host, output: StreamOutput, subscription: InboxSubscription) {
    super(output, "following");
    this.#host = host;
    this.#subscription = subscription;
    this.#voters = votersFor(host, subscription.caller);
  }

  opened(): void {}

  /** The interrupt after which it reads on; undefined between passes and while it lags. */
  get cursor(): string | undefined {
    return this.state === "following" ? this.#cursor : undefined;
  }

  /** Begins another pass: changes may have been missed, or who may decide has changed. */
  recheck(): void {
    this.#voters = votersFor(this.#host, this.#subscription.caller);
    if (this.#cursor === undefined) this.#begin();
    else this.#again = true;
  }

  /** Takes all interrupts of these runs. */
  async takeChanges(runIds: readonly string[], entries: readonly InboxEntry[]): Promise<void> {
    if (this.state === "following" && (await this.#take(entries, () => {}))) this.#closeDeleted(runIds, entries);
    if (this.state === "lagging") this.#again = true;
  }

  /** Returns the runs of interrupts that it knows and that this pass has not met: they are to be read. */
  async takePage(entries: readonly InboxEntry[], isLast: boolean): Promise<readonly string[]> {
    const taken = await this.#take(entries, ({ row }) => {
      this.#cursor = row.interruptId;
    });
    return taken && isLast ? this.#endPass() : [];
  }

  drained(): void {
    if (this.state !== "lagging") return;
    this.enter("following");
    if (this.#cursor === undefined && this.#again) this.#begin();
  }

  override release(): void {
    this.#known.clear();
    super.release();
  }

  #begin(): void {
    this.#again = false;
    this.#pass += 1;
    this.#cursor = "";
  }

  #endPass(): string[] {
    const absent = [...this.#known.values()].filter(({ pass }) => pass < this.#pass).map(({ runId }) => runId);
    this.#cursor = undefined;
    if (!this.#snapshotSent) this.#send("inbox.snapshot", { open: this.#known.size });
    this.#snapshotSent = true;
    if (this.#again) this.#begin();
    return absent;
  }

  /** False when not all entries were taken: the socket is full, or the stream has ended. */
  async #take(entries: readonly InboxEntry[], taken: (entry: InboxEntry) => void): Promise<boolean> {
    const pause = pauses();
    for (let i = 0; i < entries.length; i += ENTRIES_AT_ONCE) {
      if (!(await this.#takeSome(entries.slice(i, i + ENTRIES_AT_ONCE), taken))) return false;
      await pause();
    }
    return this.state === "following";
  }

  async #takeSome(entries: readonly InboxEntry[], taken: (entry: InboxEntry) => void): Promise<boolean> {
    const frames = await Promise.all(entries.map((one) => (this.#isWanted(one.row) ? this.#frameOf(one) : undefined)));
    for (const [i, one] of entries.entries()) {
      if (this.state !== "following") return false;
      const { interruptId } = one.row;
      const frame = frames[i];
      if (frame !== undefined && this.isFull) {
        this.enter("lagging");
        return false;
      }
      if (frame !== undefined) this.#send(frame.event, frame.data);
      const known = frame === undefined ? this.#known.get(interruptId) : frame.known;
      if (known === undefined) this.#known.delete(interruptId);
      else this.#known.set(interruptId, { ...known, pass: this.#pass });
      taken(one);
    }
    return this.state === "following";
  }

  /** A run may be cancelled and deleted before it is read; then no row says how its interrupt ended. */
  #closeDeleted(runIds: readonly string[], entries: readonly InboxEntry[]): void {
    const asked = new Set(runIds);
    const found = new Set(entries.map(({ row }) => row.interruptId));
    for (const [interruptId, { runId }] of this.#known) {
      if (!asked.has(runId) || found.has(interruptId)) continue;
      if (this.isFull) {
        this.enter("lagging");
        return;
      }
      this.#send("inbox.closed", { interruptId, runId, status: "cancelled" } satisfies InboxClosed);
      this.#known.delete(interruptId);
    }
  }

  /** A feed reads for a whole tenant. */
  #isWanted({ workspace, runId, workflowId, interrupt }: StoredInterrupt): boolean {
    const { caller, filter } = this.#subscription;
    if (caller.workspace !== undefined && caller.workspace !== workspace) return false;
    if (filter.workflowId !== undefined && filter.workflowId !== workflowId) return false;
    if (filter.runId !== undefined && filter.runId !== runId) return false;
    return filter.kind === undefined || filter.kind === interrupt.kind;
  }

  async #frameOf(one: InboxEntry): Promise<InboxFrame | undefined> {
    const { row } = one;
    const known = this.#known.get(row.interruptId);
    const nowMs = this.#host.nowMs();
    if (row.status !== "open") return known && closed(row, row.status);
    if (isOverdue(row.interrupt, nowMs)) return known && closed(row, "expired");
    if (!waitsFor(row, await this.#voters(row))) return known && closed(row, "open");
    const votes = votesOf(row.interrupt);
    if (known?.votes === votes && !one.isChange) return undefined;
    const item = await one.item();
    if (item === undefined) return known && closed(row, "cancelled");
    if (known?.votes === votes) return undefined;
    return {
      event: known === undefined ? "inbox.opened" : "inbox.updated",
      data: itemFor(item, this.#subscription.caller.principal, nowMs),
      known: { runId: row.runId, votes, pass: this.#pass },
    };
  }

  #send(event: InboxEvent, data: object): void {
    this.write(plainFrame(event, JSON.stringify(data)));
  }
}

function closed({ interruptId, runId, interrupt }: StoredInterrupt, status: InboxClosed["status"]): InboxFrame {
  const data: InboxClosed = { interruptId, runId, status, ...defined({ outcome: interrupt.outcome }) };
  return { event: "inbox.closed", data };
}

/** Different after every vote. */
function votesOf({ votes }: Interrupt): string {
  return votes.map(({ voter, action, at }) => JSON.stringify([voter, action, at])).join();
}

export interface OpenInbox extends InboxSubscription {
  readonly response: ServerResponse;
}

/** Streams of inboxes. */
export class InboxFeeds extends TenantFeeds<InboxFeed, InboxSubscriber> {
  readonly #host: Host;
  readonly #deps: StreamDeps;

  constructor(host: Host, deps: StreamDeps) {
    super(host.store, deps, deps.settings.inboxRereadMs);
    this.#host = host;
    this.#deps = deps;
  }

  protected make(tenant: string): InboxFeed {
    const { settings, report } = this.#deps;
    return new InboxFeed(this.#host, { tenant, retryMs: settings.rereadMs, report });
  }

  /** Makes the response a stream of the caller's inbox. Throws like `checkRoom`. */
  open({ response, ...subscription }: OpenInbox): void {
    const { tenant } = subscription.caller;
    this.openOn({ response, tenant }, (output) => new InboxSubscriber(this.#host, output, subscription));
  }
}
