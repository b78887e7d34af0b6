import type { Interrupt, InterruptKind, InterruptStatus } from "../../protocol/gates/interrupt.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";

/**
 * Interrupts across runs, held external events, webhooks and their outbox. Rows of `interrupts` and `interrupt_votes`
 * are derived from a run's log in the append's transaction (`interrupt-rows.ts`) and can be rebuilt from it.
 */
export interface Gates {
  /**
   * Open interrupts, oldest first; `after` is the id of the last one of the page before. Large ones come some at a time: there are no more where
   * none is returned.
   */
  openInterrupts(visible: Visibility, query: InterruptQuery): Promise<StoredInterrupt[]>;
  /** Interrupts of any status of these runs; ids of runs the caller cannot see are passed over. */
  interruptsOfRuns(visible: Visibility, runIds: readonly string[]): Promise<StoredInterrupt[]>;
  readInterrupt(visible: Visibility, interruptId: string): Promise<StoredInterrupt | undefined>;
  /** Newest first, without what they show, which may be large. */
  interruptsByCorrelation(visible: Visibility, query: CorrelationQuery): Promise<WaitingInterrupt[]>;
  gateSummary(visible: Visibility, query: GateSummaryQuery): Promise<GateSummaryRow[]>;
  /** Every row of a run as it is stored, by id, for the rebuild check. */
  interruptRows(runId: string): Promise<{ interrupts: readonly object[]; votes: readonly object[] }>;

  readExternalEvent(key: ExternalEventKey): Promise<ExternalEventRecord | undefined>;
  /**
   * Held events that have not expired, oldest first, without what they hold, which may be large. Without a key: any of which an open interrupt
   * could be waiting.
   */
  heldEvents(held: HeldQuery): Promise<HeldEvent[]>;
  /** How many events of a tenant are held, counted up to `most`; some may have expired. */
  countHeldEvents(tenant: string, most: number): Promise<number>;
}

export interface InterruptQuery {
  readonly limit: number;
  readonly after?: string;
  readonly workflowId?: string;
  readonly kind?: InterruptKind;
  readonly runId?: string;
  /** Only those whose deadline is later than this. */
  readonly nowMs: number;
}

/** Those that wait, or waited, for events of this type. */
export interface CorrelationQuery {
  readonly correlationId: string;
  readonly eventType: string;
  /** Only those that still wait, whatever their deadline. */
  readonly open: boolean;
  readonly limit: number;
}

export type WaitingInterrupt = Pick<StoredInterrupt, "interruptId" | "runId">;

export interface StoredInterrupt {
  readonly interruptId: string;
  readonly tenant: string;
  readonly workspace?: string;
  readonly runId: string;
  readonly workflowId: string;
  /** The principals who started or branched the run or a run that it comes from. */
  readonly starters: readonly string[];
  readonly status: InterruptStatus;
  readonly interrupt: Interrupt;
}

export interface GateSummaryQuery {
  /** Of when the gate was opened; `fromMs` inclusive, `toMs` exclusive. */
  readonly fromMs?: number;
  readonly toMs?: number;
  readonly workflowId?: string;
  readonly groupBy?: "workflow" | "node" | "principal" | "day";
}

/**
 * Of approval interrupts. `key` is "" without groupBy; by node it is `workflowId nodeId`, by day an ISO date (UTC).
 *
 * By principal a row is of the gates at which that principal has a vote that counts, each once, however many votes it
 * relayed: `opened` is how many, the rest their outcomes, by any principal's decision; only `overridden` is of its own votes.
 */
export interface GateSummaryRow {
  readonly key: string;
  readonly opened: number;
  /** Closed by people: granted or rejected, not by time or by the end of the run. */
  readonly decided: number;
  readonly rejected: number;
  readonly timedOut: number;
  /** Of those decided, with a vote that took the override path. */
  readonly overridden: number;
  /** Of those decided, from opening to decision, the nearest rank; null when there are none. */
  readonly medianSeconds: number | null;
  readonly p95Seconds: number | null;
  readonly underTenSeconds: number;
}

// --- external events ------------------------------------------------------------------------------------------

export interface ExternalEventKey {
  readonly tenant: string;
  /** "" where the key that sent it is bound to no workspace. */
  readonly workspace: string;
  readonly correlationId: string;
  readonly eventId: string;
}

export interface ExternalEventRecord extends ExternalEventKey {
  readonly eventType: string;
  readonly state: "held" | "delivered";
  /** JSON text of what is to be delivered and who sent it, with its secrets; `{}` once it is delivered. No surface shows it. */
  readonly payload: string;
  /** JSON text of `{ status, body }`: the first answer, given again to a repetition. */
  readonly answer: string;
  readonly atMs: number;
  readonly expiresAtMs: number;
}

export type HeldEvent = Omit<ExternalEventRecord, "payload" | "answer">;

/** With a tenant: held events of that correlation. Without: all that some open interrupt waits for. */
export interface HeldQuery {
  readonly tenant?: string;
  readonly correlationId?: string;
  readonly eventType?: string;
  readonly nowMs: number;
  readonly limit: number;
  /** The last one of the page before. */
  readonly after?: HeldEvent;
}

export type ExternalEventWrite =
  /** Insert; the unit is refused with the record when there is one that has not expired. */
  | { readonly type: "put"; readonly event: ExternalEventRecord; readonly nowMs: number }
  /** The unit is refused unless it is held now. From here on it is kept without its payload for its repetitions, until `expiresAtMs`. */
  | {
      readonly type: "delivered";
      readonly key: ExternalEventKey;
      readonly answer: string;
      readonly expiresAtMs: number;
    };

// --- webhooks -------------------------------------------------------------------------------------------------

export interface Webhooks {
  listWebhooks(visible: Visibility): Promise<WebhookRecord[]>;
  readWebhook(visible: Visibility, webhookId: string): Promise<WebhookRecord | undefined>;
  /** Newest first; `before` is the id of the last one of the page before. */
  listDeliveries(visible: Visibility, query: DeliveryQuery): Promise<DeliveryRecord[]>;
  /**
   * Leases up to `limit` deliveries that are due, oldest first, none of a webhook that is disabled or whose circuit is
   * open at `nowMs`. Two claimers never get the same one.
   */
  claimDeliveries(claim: DeliveryClaim): Promise<ClaimedDelivery[]>;
  /**
   * Writes the outcome of an attempt, provided `owner` still holds the delivery; also the webhook's own state. One that
   * disables the webhook makes the deliveries dead that wait for it; those under way are their holders' to finish.
   */
  finishAttempt(attempt: AttemptOutcome): Promise<boolean>;
  /** When the next one can be claimed, given circuits and leases, or undefined for never. */
  nextDeliveryAtMs(nowMs: number): Promise<number | undefined>;
  /** Makes dead deliveries due again, with no attempts behind them: one, or all of a webhook. Returns how many. */
  redeliver(visible: Visibility, which: { deliveryId?: string; webhookId?: string }, nowMs: number): Promise<number>;
}

export interface WebhookRecord {
  readonly webhookId: string;
  readonly tenant: string;
  readonly workspace?: string;
  readonly url: string;
  /** Event types; "*" is all, "approval.*" a family. */
  readonly events: readonly string[];
  /** Only events of runs that carry all of these. */
  readonly tags: readonly string[];
  /** The signing secret: needed in the clear to sign. Never served, never logged. */
  readonly secret: string;
  readonly createdBy: string;
  readonly createdAtMs: number;
  readonly failures: number;
  readonly failingSinceMs?: number;
  readonly circuitUntilMs?: number;
  readonly disabledAtMs?: number;
}

export type WebhookWrite =
  | { readonly type: "put"; readonly webhook: WebhookRecord }
  /** Its undelivered deliveries go with it. */
  | { readonly type: "delete"; readonly webhookId: string }
  /** Clears failures, circuit and disabledAt. */
  | { readonly type: "enable"; readonly webhookId: string };

/**
 * A row of the outbox, written in the transaction of the events it is about. Unique per (webhook, run, sequence): a
 * second one is passed over, as is one for a webhook that is gone or another tenant's.
 */
export interface DeliveryWrite {
  readonly deliveryId: string;
  /** Absent for the `callbackUrl` of a run. */
  readonly webhookId?: string;
  /** Where a callback goes; a webhook's own url is read when it is delivered. */
  readonly url?: string;
  readonly workspace?: string;
  readonly runId: string;
  readonly sequence: number;
  readonly eventType: string;
  /** For callbacks: the interrupt whose token is posted. */
  readonly interruptId?: string;
  readonly atMs: number;
}

export const DELIVERY_STATES = ["pending", "delivered", "dead"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface DeliveryRecord extends DeliveryWrite {
  readonly tenant: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly nextAtMs?: number;
  readonly lastStatus?: number;
  readonly lastError?: string;
  readonly finishedAtMs?: number;
}

export interface DeliveryQuery {
  readonly limit: number;
  readonly before?: string;
  readonly webhookId?: string;
  readonly runId?: string;
  readonly state?: DeliveryState;
}

export interface DeliveryClaim {
  readonly owner: string;
  readonly nowMs: number;
  readonly untilMs: number;
  readonly limit: number;
  /** Webhooks that the claimer has enough deliveries of already: others must not wait behind a slow one. */
  readonly except?: readonly string[];
}

export interface ClaimedDelivery extends DeliveryRecord {
  readonly webhook?: WebhookRecord;
}

export interface AttemptOutcome {
  readonly deliveryId: string;
  readonly owner: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly nextAtMs?: number;
  readonly lastStatus?: number;
  readonly lastError?: string;
  readonly atMs: number;
  /** The webhook's state after it; absent for callbacks. Only `enable` lifts `disabledAtMs`. */
  readonly webhook?: Pick<WebhookRecord, "webhookId" | "failures"> &
    Partial<Pick<WebhookRecord, "failingSinceMs" | "circuitUntilMs" | "disabledAtMs">>;
}

// --- roles ----------------------------------------------------------------------------------------------------

/** The roles and groups of a principal in a workspace: those of the workspace and tenant-wide ones. */
export interface Membership {
  readonly roles: readonly string[];
  readonly groups: readonly string[];
}

export type RoleDefinitionWrite =
  | { readonly type: "put"; readonly workspace?: string; readonly role: string; readonly scopes: readonly string[] }
  | { readonly type: "delete"; readonly workspace?: string; readonly role: string };
