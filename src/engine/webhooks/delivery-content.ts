import { tokenAllowed } from "../../protocol/gates/gate-rules.ts";
import { own } from "../../protocol/own.ts";
import type { ClaimedDelivery } from "../../store/port/gates.ts";
import { isOverdue } from "../gates/decide/close-interrupt.ts";
import { tokenEndMs, tokenFor } from "../gates/shown-gates.ts";
import type { Host } from "../host.ts";

/**
 * The body of a delivery, made when it is sent. `moot` when there is nothing to say any more, `lost` when what it is
 * about cannot be found.
 */
export type Content = { readonly body: Buffer } | "moot" | "lost";

type Given = Pick<Host, "store" | "nowMs" | "tokens"> & {
  /** Under which clients reach the host; "" when nobody said. */
  readonly publicUrl: string;
};

/** The contents of deliveries under way. All webhooks that get an event share its text, which may be megabytes long. */
export class Contents {
  readonly #underWay = new Map<string, { readonly content: Promise<Content>; users: number }>();

  /** Each content is released when the work of its last user has ended. */
  async use<T>(given: Given, delivery: ClaimedDelivery, work: (content: Content) => Promise<T>): Promise<T> {
    const { runId, sequence, webhookId } = delivery;
    const key = webhookId === undefined ? delivery.deliveryId : `${runId} ${sequence}`;
    const shared = this.#underWay.get(key) ?? { content: contentOf(given, delivery), users: 0 };
    this.#underWay.set(key, shared);
    shared.users += 1;
    try {
      return await work(await shared.content);
    } finally {
      shared.users -= 1;
      if (shared.users === 0) this.#underWay.delete(key);
    }
  }
}

async function contentOf(given: Given, delivery: ClaimedDelivery): Promise<Content> {
  const [event] = await given.store.readEvents(delivery.runId, delivery.sequence, 1);
  if (event?.sequence !== delivery.sequence) return "lost";
  if (delivery.webhook === undefined) return callbackContent(given, delivery, event.body);
  const { runId, workspace } = delivery;
  const place = workspace === undefined ? "" : `"workspaceId":${JSON.stringify(workspace)},`;
  // The event's own text, byte for byte what every other surface serves, sensitive values masked.
  const type = JSON.stringify(event.type);
  return { body: Buffer.from(`{"type":${type},"runId":${JSON.stringify(runId)},${place}"event":${event.body}}`) };
}

/** The token of an interrupt, as long as it is open and may be decided by whoever holds one. */
async function callbackContent(given: Given, delivery: ClaimedDelivery, eventText: string): Promise<Content> {
  const { runId, interruptId = "", tenant } = delivery;
  const run = await given.store.readRun({ tenant }, runId);
  const interrupt = run && own(run.interrupts, interruptId);
  if (interrupt === undefined) return "lost";
  const isOpen = interrupt.status === "open" && !isOverdue(interrupt, given.nowMs());
  if (!isOpen || !tokenAllowed(interrupt)) return "moot";
  const { nodeId, kind, requestedAt } = interrupt;
  const interruptToken = tokenFor(given, runId, interrupt);
  const callbackUrl = `${given.publicUrl}/v1/interrupts/${interruptToken}`;
  const expiresAt = new Date(tokenEndMs(given, interrupt)).toISOString();
  // As the event shows it: the folded interrupt holds sensitive values too.
  const { data } = JSON.parse(eventText).payload as { readonly data?: unknown };
  const about = { runId, nodeId, interruptId, kind, interruptToken, callbackUrl, expiresAt, requestedAt };
  return { body: Buffer.from(JSON.stringify(data === undefined ? about : { ...about, data })) };
}
