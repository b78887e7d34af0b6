import type { EffectContext } from "../../engine/worker/node-type.ts";
import type { EventDraft, RunEventDoc } from "../../protocol/events.ts";
import { isLastPage } from "../../store/port/large-rows.ts";
import type { Store } from "../../store/port/store.ts";

const ATTEMPTS = 3;

/** Writes the events of an agent while it works, in order: events that come while a batch is written are the next batch. */
export class EventAppender {
  readonly #context: Pick<EffectContext, "append" | "signal">;
  #pending: EventDraft[] = [];
  #writing: Promise<void> | undefined;
  #refused: { readonly reason: unknown } | undefined;

  constructor(context: Pick<EffectContext, "append" | "signal">) {
    this.#context = context;
  }

  readonly append = (event: EventDraft): void => {
    if (this.#refused !== undefined) return;
    this.#pending.push(event);
    this.#writing ??= this.#write();
  };

  /** Writes these events and their side writes in one commit, after all earlier events. Rejects when they were not written. */
  readonly write: EffectContext["append"] = async (events, sideWrites) => {
    await this.flushed();
    await this.#context.append(events, sideWrites);
  };

  /** Resolves once all events so far are durable. Rejects when they no longer count. */
  readonly flushed = async (): Promise<void> => {
    await this.#writing;
    if (this.#refused !== undefined) throw this.#refused.reason;
  };

  async #write(): Promise<void> {
    while (this.#pending.length > 0) {
      const batch = this.#pending;
      this.#pending = [];
      await this.#put(batch);
    }
    this.#writing = undefined;
  }

  /** A write of another node in the same commit may have been refused, and these events with it; then they are written again. */
  async #put(batch: readonly EventDraft[]): Promise<void> {
    const { append, signal } = this.#context;
    for (let attempt = 1; ; attempt++) {
      try {
        await append(batch);
        return;
      } catch (reason) {
        if (attempt < ATTEMPTS && !signal.aborted) continue;
        this.#refused = { reason };
        this.#pending = [];
        return;
      }
    }
  }
}

const PAGE = 500;

/**
 * Closes the invocation and the message that an earlier attempt of the node left open when its worker was lost. The next attempt
 * does so before it begins, so that no bracket stays open and no half of an answer is taken for one.
 */
export async function closeLost(
  store: Pick<Store, "readEvents">,
  { run, node, attempt }: Pick<EffectContext, "run" | "node" | "attempt">,
): Promise<EventDraft[]> {
  if (attempt === 0) return [];
  const open = new Map<string, string>();
  let speaking = false;
  for (let from = 0; ; ) {
    const page = await store.readEvents(run.runId, from, PAGE);
    for (const { type, body } of page) {
      if (!WATCHED.has(type)) continue;
      const event = JSON.parse(body) as RunEventDoc & { readonly payload: WatchedPayload };
      if (event.nodeId !== node.id) continue;
      const { invocationId = "", agentId = "", isLast } = event.payload;
      if (type === "agent.invocation.started") open.set(invocationId, agentId);
      else if (type === "agent.invocation.completed") open.delete(invocationId);
      else speaking = isLast === false;
    }
    if (isLastPage(page, PAGE)) break;
    from += page.length;
  }
  const nodeId = node.id;
  const silenced: EventDraft = {
    type: "output.chunk",
    nodeId,
    payload: { nodeId, runId: run.runId, chunk: "", isLast: true, meta: { finishReason: "error" } },
  };
  const closed = [...open].map(
    ([invocationId, agentId]): EventDraft => ({
      type: "agent.invocation.completed",
      nodeId,
      payload: { invocationId, agentId, outcome: "failed" },
    }),
  );
  return [...(speaking ? [silenced] : []), ...closed];
}

const WATCHED = new Set<string>(["agent.invocation.started", "agent.invocation.completed", "output.chunk"]);

interface WatchedPayload {
  readonly invocationId?: string;
  readonly agentId?: string;
  readonly isLast?: boolean;
}
