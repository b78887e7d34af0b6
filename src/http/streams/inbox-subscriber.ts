import { isOverdue } from "../../engine/gates/decide/close-interrupt.ts";
import { itemFor, waitsFor } from "../../engine/gates/decide/inbox-item.ts";
import { votersFor } from "../../engine/gates/inbox.ts";
import type { Host } from "../../engine/host.ts";
import type { InboxClosed, InboxEvent, InboxFilter } from "../../protocol/gates/inbox-api.ts";
import type { Interrupt } from "../../protocol/gates/interrupt.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { StoredInterrupt } from "../../store/port/gates.ts";
import type { InboxEntry } from "./inbox-entry.ts";
import { plainFrame } from "./sse-frame.ts";
import type { SseSocket } from "./sse-socket.ts";
import type { StreamTally } from "./stream-room.ts";

export interface InboxSubscription {
  readonly caller: Caller;
  readonly filter: InboxFilter;
}

/** What its reader was told to be open. */
interface Known {
  readonly runId: string;
  readonly votes: string;
  /** The last reading that met it. */
  readonly pass: number;
}

interface News {
  readonly event: InboxEvent;
  readonly data: object;
  /** As it is known afterwards; absent when it is over. */
  readonly known?: Known;
}

/**
 * One connection that follows the inbox of its caller. It compares what the feed shows it with what its reader was
 * told, so nothing is told twice, and what was missed is made up for by reading all that is open once more (a pass).
 * While its socket is full it looks at nothing.
 */
export class InboxSubscriber {
  readonly #host: Host;
  readonly #socket: SseSocket;
  readonly #tally: StreamTally;
  readonly #subscription: InboxSubscription;
  readonly #known = new Map<string, Known>();
  #judges: ReturnType<typeof votersFor>;
  #state: "following" | "lagging" | "ended" = "following";
  #pass = 1;
  /** How far this pass has got; undefined between passes. */
  #cursor: string | undefined = "";
  /** Another pass is due after this one. */
  #again = false;
  #toldAll = false;

  constructor({ host, tally }: { host: Host; tally: StreamTally }, socket: SseSocket, subscription: InboxSubscription) {
    this.#host = host;
    this.#tally = tally;
    this.#socket = socket;
    this.#subscription = subscription;
    this.#judges = votersFor(host, subscription.caller);
  }

  /** After which interrupt it wants to read on; undefined when it does not. */
  get cursor(): string | undefined {
    return this.#state === "following" ? this.#cursor : undefined;
  }

  /** Something may have been missed, or who may decide what has changed. */
  recheck(): void {
    this.#judges = votersFor(this.#host, this.#subscription.caller);
    if (this.#cursor === undefined) this.#begin();
    else this.#again = true;
  }

  /** Everything there is about these runs. */
  async takeChanges(runIds: readonly string[], entries: readonly InboxEntry[]): Promise<void> {
    if (this.#state === "following" && (await this.#take(entries, () => {}))) this.#closeDeleted(runIds, entries);
    if (this.#state === "lagging") this.#again = true;
  }

  /** Returns the runs of what it knows and did not meet in this pass: whatever became of that is to be looked at. */
  async takePage(entries: readonly InboxEntry[], isLast: boolean): Promise<readonly string[]> {
    const taken = await this.#take(entries, ({ row }) => {
      this.#cursor = row.interruptId;
    });
    return taken && isLast ? this.#endPass() : [];
  }

  drained(): void {
    if (this.#state !== "lagging") return;
    this.#enter("following");
    if (this.#cursor === undefined && this.#again) this.#begin();
  }

  keepAlive(): void {
    if (this.#state !== "ended") this.#socket.keepAlive();
  }

  /** Ends the stream politely: the reader still gets what was sent. */
  finish(): void {
    if (this.#state === "ended") return;
    this.release();
    this.#socket.end();
  }

  cut(): void {
    this.release();
    this.#socket.destroy();
  }

  /** Lets go of everything but the connection. */
  release(): void {
    this.#known.clear();
    this.#enter("ended");
  }

  #begin(): void {
    this.#again = false;
    this.#pass += 1;
    this.#cursor = "";
  }

  #endPass(): string[] {
    const absent = [...this.#known.values()].filter(({ pass }) => pass < this.#pass).map(({ runId }) => runId);
    this.#cursor = undefined;
    if (!this.#toldAll) this.#write("inbox.snapshot", { open: this.#known.size });
    this.#toldAll = true;
    if (this.#again) this.#begin();
    return absent;
  }

  /** Whether all of it was looked at; otherwise the socket is full, or nobody is left to tell. */
  async #take(entries: readonly InboxEntry[], taken: (entry: InboxEntry) => void): Promise<boolean> {
    const asked = await Promise.all(entries.map((one) => (this.#isAsked(one.row) ? this.#newsOf(one) : undefined)));
    for (const [i, one] of entries.entries()) {
      if (this.#state !== "following") return false;
      const { interruptId } = one.row;
      const news = asked[i];
      if (news !== undefined && this.#socket.full) {
        this.#enter("lagging");
        return false;
      }
      if (news !== undefined) this.#write(news.event, news.data);
      const known = news === undefined ? this.#known.get(interruptId) : news.known;
      if (known === undefined) this.#known.delete(interruptId);
      else this.#known.set(interruptId, { ...known, pass: this.#pass });
      taken(one);
    }
    return this.#state === "following";
  }

  /** A run may be cancelled and deleted before anybody looks: then nothing is left that says how its interrupt ended. */
  #closeDeleted(runIds: readonly string[], entries: readonly InboxEntry[]): void {
    const asked = new Set(runIds);
    const found = new Set(entries.map(({ row }) => row.interruptId));
    for (const [interruptId, { runId }] of this.#known) {
      if (!asked.has(runId) || found.has(interruptId)) continue;
      if (this.#socket.full) {
        this.#enter("lagging");
        return;
      }
      this.#write("inbox.closed", { interruptId, runId, status: "cancelled" } satisfies InboxClosed);
      this.#known.delete(interruptId);
    }
  }

  /** A feed reads for a whole tenant. */
  #isAsked({ workspace, runId, workflowId, interrupt }: StoredInterrupt): boolean {
    const { caller, filter } = this.#subscription;
    if (caller.workspace !== undefined && caller.workspace !== workspace) return false;
    if (filter.workflowId !== undefined && filter.workflowId !== workflowId) return false;
    if (filter.runId !== undefined && filter.runId !== runId) return false;
    return filter.kind === undefined || filter.kind === interrupt.kind;
  }

  async #newsOf(one: InboxEntry): Promise<News | undefined> {
    const { row } = one;
    const known = this.#known.get(row.interruptId);
    const nowMs = this.#host.nowMs();
    if (row.status !== "open") return known && closed(row, row.status);
    if (isOverdue(row.interrupt, nowMs)) return known && closed(row, "expired");
    if (!waitsFor(row, await this.#judges(row))) return known && closed(row, "open");
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

  #write(event: InboxEvent, data: object): void {
    this.#tally.frames += 1;
    this.#socket.write(plainFrame(event, JSON.stringify(data)));
  }

  #enter(state: "following" | "lagging" | "ended"): void {
    if (this.#state === "lagging") this.#tally.lagging -= 1;
    if (state === "lagging") this.#tally.lagging += 1;
    this.#state = state;
  }
}

function closed({ interruptId, runId, interrupt }: StoredInterrupt, status: InboxClosed["status"]): News {
  const { outcome } = interrupt;
  const data: InboxClosed = { interruptId, runId, status, ...(outcome === undefined ? {} : { outcome }) };
  return { event: "inbox.closed", data };
}

/** Different whenever somebody has voted since. */
function votesOf({ votes }: Interrupt): string {
  return votes.map(({ voter, action, at }) => JSON.stringify([voter, action, at])).join();
}
