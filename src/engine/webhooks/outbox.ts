import { defined } from "../../protocol/defined.ts";
import type { RunEvent } from "../../protocol/events.ts";
import { isInherited } from "../../protocol/runs/forked-from.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isRecorded } from "../../protocol/tapes/api.ts";
import type { DeliveryWrite, WebhookRecord } from "../../store/port/gates.ts";
import type { Store, Unit } from "../../store/port/store.ts";
import type { Host } from "../host.ts";
import { ShortCache } from "../shared/short-cache.ts";
import { typesMatching } from "./event-patterns.ts";
import { DELIVERIES_MAX, spreadOf } from "./spread.ts";

/** How long subscriptions are cached, in case the notification of another process gets lost. */
const KEEP_MS = 1000;

/** The members of a webhook that decide which events it receives. */
type Subscription = Pick<WebhookRecord, "webhookId" | "workspace" | "tags"> & { readonly types: ReadonlySet<string> };

/** A store whose commits include the deliveries of their events: both are durable together or not at all. Without webhooks, a commit is passed on at once. */
export function withOutbox(
  store: Store,
  { nowMs, newId, capabilities }: Pick<Host, "nowMs" | "newId" | "capabilities">,
): Store {
  const subscriptions = new ShortCache<readonly Subscription[]>({
    keepMs: KEEP_MS,
    nowMs,
    load: async (tenant) => {
      const webhooks = capabilities.has("webhooks") ? await store.listWebhooks({ tenant }) : [];
      return webhooks.filter(isEnabled).map(subscriptionOf);
    },
  });
  store.onChange((change) => {
    if (change.webhooks) subscriptions.clear();
  });

  const complete = (unit: Unit, known: readonly Subscription[]): Unit => {
    const runs = unit.runs ?? [];
    const mostDeliveries = runs.reduce((events, run) => events + run.events.length, 0) * known.length;
    const deliveries = runs.flatMap(({ run, events }) =>
      deliveriesOf(run, events, known, mostDeliveries > DELIVERIES_MAX),
    );
    if (deliveries.length === 0) return unit;
    const atMs = nowMs();
    return { ...unit, deliveries: deliveries.map((delivery) => ({ deliveryId: newId("dlv"), atMs, ...delivery })) };
  };

  return {
    ...store,
    async commit(unit) {
      if (unit.webhooks !== undefined) {
        // The next commit of this process must know the change, also before its notification.
        return store.commit(unit).finally(() => subscriptions.clear());
      }
      if (!unit.runs?.some(({ events }) => events.length > 0)) return store.commit(unit);
      const known = subscriptions.peek(unit.tenant) ?? (await subscriptions.get(unit.tenant)) ?? [];
      return store.commit(complete(unit, known));
    },
  };
}

/** Whether deliveries are written for a webhook: not while it is disabled. */
function isEnabled({ disabledAtMs }: WebhookRecord): boolean {
  return disabledAtMs === undefined;
}

function subscriptionOf({ webhookId, workspace, tags, events }: WebhookRecord): Subscription {
  return { webhookId, ...defined({ workspace }), tags, types: typesMatching(events) };
}

type Draft = Omit<DeliveryWrite, "deliveryId" | "atMs">;

/** `later`: one row stands for the deliveries to webhooks, from which they are written afterwards. */
function deliveriesOf(run: Run, all: readonly RunEvent[], known: readonly Subscription[], later: boolean): Draft[] {
  // Inherited and imported events were delivered where they happened.
  const events = isRecorded(run) ? [] : all.filter(({ sequence }) => !isInherited(run, sequence));
  const { runId, owner, callbackUrl } = run;
  const about = defined({ workspace: owner.workspace, runId });
  const concerned = known.filter((subscription) => concerns(subscription, run));
  const callbacks = events.flatMap((event): Draft[] => {
    if (callbackUrl === undefined || event.type !== "interrupt.requested") return [];
    const { sequence, type: eventType, payload } = event;
    return [{ ...about, sequence, eventType, url: callbackUrl, interruptId: payload.interruptId }];
  });
  const [first, last] = [events[0], events.at(-1)];
  if (later && concerned.length > 0 && first !== undefined && last !== undefined) {
    const webhookIds = concerned.map(({ webhookId }) => webhookId);
    return [spreadOf(about, [first.sequence, last.sequence], webhookIds), ...callbacks];
  }
  const wanted = events.flatMap(({ sequence, type: eventType }) =>
    concerned
      .filter(({ types }) => types.has(eventType))
      .map(({ webhookId }) => ({ ...about, sequence, eventType, webhookId })),
  );
  return [...wanted, ...callbacks];
}

/** Whether a run concerns a webhook: it is of its workspace and has all of its tags. */
function concerns({ workspace, tags }: Subscription, { owner, tags: carried = [] }: Run): boolean {
  if (workspace !== undefined && workspace !== owner.workspace) return false;
  return tags.every((tag) => carried.includes(tag));
}
