import { createHash } from "node:crypto";
import { defined } from "../../protocol/defined.ts";
import { isoOf } from "../../protocol/instant.ts";
import type { StoredCheckpoint } from "../../store/port/store.ts";
import type { Host } from "../host.ts";
import type { OutboundAnswer } from "../outbound/call-out.ts";
import { retryWait } from "../outbound/retry-wait.ts";
import { isDelivered } from "../webhooks/retry-policy.ts";
import { sendToWebhook } from "../webhooks/send-delivery.ts";
import type { AuditVerifier } from "./signer.ts";

/** The receiver of signed roots, named by the operator. */
export interface RootReceiver {
  readonly url: string;
  readonly secret: string;
}

interface RootSenderSettings extends RootReceiver {
  /** Checkpoints that are read at once. */
  readonly batchMax: number;
  readonly sweepMs: number;
  readonly retryMs: number;
  readonly retryMaxMs: number;
  /** From 0 to 1: hosts that failed together must not retry together. */
  chance(): number;
  /** Called where the receiver did not accept a root. */
  onRefusal(reason: string): void;
  onError(error: unknown): void;
}

export interface RootSender {
  stats(): { readonly sent: number; readonly failed: number };
  /** Sends the roots that are signed already within `graceMs`; the rest is sent after the next start. */
  stop(graceMs: number): Promise<void>;
}

export const ROOT_EVENT = "assay.audit.root";
const RECEIVER_ID = "audit-roots";

/**
 * Sends each signed root to a receiver outside the host, in the order of each tenant's log, at least once. A root is marked as sent when the receiver
 * answers with 2xx. Checkpoints are in the database, so no root is lost while the receiver is away.
 */
export function startRootSender(
  host: Pick<Host, "store" | "nowMs" | "outbound">,
  verifier: AuditVerifier,
  settings: RootSenderSettings,
): RootSender {
  const { store, nowMs, outbound } = host;
  const cursor = cursorOf(settings);
  const stats = { sent: 0, failed: 0 };
  const cut = new AbortController();
  let stopping = false;
  let wake = (): void => {};

  async function sendOne(tenant: string, checkpoint: StoredCheckpoint): Promise<OutboundAnswer> {
    const body = Buffer.from(JSON.stringify(rootMessage(tenant, checkpoint, verifier)));
    const message = { deliveryId: checkpoint.checkpoint, eventType: ROOT_EVENT, body };
    const webhook = { webhookId: RECEIVER_ID, ...settings };
    const answer = await sendToWebhook(outbound, webhook, message, { nowMs: nowMs(), signal: cut.signal });
    if (isDelivered(answer)) {
      await store.putCursor(cursor, tenant, { seq: checkpoint.atSequence, n: 0 });
      stats.sent += 1;
    } else if (!cut.signal.aborted) {
      stats.failed += 1;
      settings.onRefusal(reasonOf(answer));
    }
    return answer;
  }

  /** Sends the roots of a tenant. Returns the answer that stopped it; undefined where all were sent. */
  async function sendTenant(tenant: string): Promise<OutboundAnswer | undefined> {
    for (;;) {
      const after = (await store.readCursor(cursor, tenant))?.seq ?? 0;
      const next = await store.readCheckpoints(tenant, after + 1, Number.MAX_SAFE_INTEGER, settings.batchMax);
      for (const checkpoint of next) {
        if (cut.signal.aborted) return { failure: "the host stops" };
        const answer = await sendOne(tenant, checkpoint);
        if (!isDelivered(answer)) return answer;
      }
      if (next.length < settings.batchMax) return undefined;
    }
  }

  /** Sends the roots of all tenants. A refused root delays the later ones of its tenant; a receiver that is away delays all. */
  async function round(): Promise<OutboundAnswer | undefined> {
    let failure: OutboundAnswer | undefined;
    for (const tenant of await store.tenantsWithCheckpointsAfter(cursor)) {
      const answer = await sendTenant(tenant);
      failure ??= answer;
      if (answer !== undefined && isAway(answer)) return answer;
    }
    return failure;
  }

  const roundOrError = (): Promise<OutboundAnswer | undefined> =>
    round().catch((error: unknown) => {
      settings.onError(error);
      return { failure: "the database does not answer" };
    });

  function waitMs(attempt: number, failure: OutboundAnswer): number {
    const retryAfter = "status" in failure ? failure.retryAfter : undefined;
    return retryWait(settings, { attempt, retryAfter, now: nowMs(), chance: settings.chance() }) ?? settings.retryMaxMs;
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function work(): Promise<void> {
    for (let failures = 0; !stopping; ) {
      const failure = await roundOrError();
      failures = failure === undefined ? 0 : failures + 1;
      if (!stopping) await pause(failure === undefined ? settings.sweepMs : waitMs(failures, failure));
    }
    if (!cut.signal.aborted) await roundOrError();
  }

  const working = work();
  return {
    stats: () => ({ ...stats }),
    async stop(graceMs) {
      stopping = true;
      const timer = setTimeout(() => cut.abort(), graceMs);
      wake();
      await working;
      clearTimeout(timer);
    },
  };
}

/** The cursor of a receiver: a new address gets all roots from the first. */
function cursorOf({ url }: RootReceiver): string {
  return `audit-roots ${createHash("sha256").update(url).digest("hex").slice(0, 16)}`;
}

function rootMessage(tenant: string, stored: StoredCheckpoint, verifier: AuditVerifier): object {
  const { checkpoint, prevSequence, atSequence, merkleRoot, signature, atMs } = stored;
  const place = verifier.signedBy(merkleRoot, signature, checkpoint);
  // Without a key where no known key made the signature: then the stored checkpoint was changed.
  const publicKey = place === undefined ? undefined : [verifier.publicKey, ...verifier.earlierPublicKeys][place];
  const signed = { checkpoint, prevSequence, atSequence, merkleRoot, signature, publicKey, signedAt: isoOf(atMs) };
  return defined({ type: ROOT_EVENT, tenant, ...signed });
}

const TOO_MANY = 429;

function isAway(answer: OutboundAnswer): boolean {
  return !("status" in answer) || answer.status >= 500 || answer.status === TOO_MANY;
}

function reasonOf(answer: OutboundAnswer): string {
  return "status" in answer ? `the receiver answered ${answer.status}` : answer.failure;
}
