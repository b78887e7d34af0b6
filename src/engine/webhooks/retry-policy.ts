import { defined } from "../../protocol/defined.ts";
import type { DeliveryState, WebhookRecord } from "../../store/port/gates.ts";
import type { OutboundAnswer } from "../outbound/call-out.ts";

const HOUR_MS = 3_600_000;

export interface RetryPolicy {
  /** Attempts of a delivery before it is dead. */
  readonly attemptsMax: number;
  readonly firstMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** Failures in a row after which a webhook's deliveries wait, and the first wait, which doubles with each further failure. */
  readonly circuitAfter: number;
  readonly circuitFirstMs: number;
  readonly circuitMaxMs: number;
  /** A webhook that has failed this often in a row, and for this long, is disabled. */
  readonly disableAfter: number;
  readonly disableAfterMs: number;
}

export const RETRY_DEFAULTS: RetryPolicy = {
  attemptsMax: 8,
  firstMs: 1000,
  factor: 4,
  maxMs: HOUR_MS,
  circuitAfter: 4,
  circuitFirstMs: 30_000,
  circuitMaxMs: HOUR_MS,
  disableAfter: 100,
  disableAfterMs: 7 * 24 * HOUR_MS,
};

/** The time, and a random number from 0 to 1: deliveries that failed together must not retry together. */
interface Moment {
  readonly nowMs: number;
  readonly chance: number;
}

/** The health of a webhook. */
export type Health = Pick<WebhookRecord, "failures" | "failingSinceMs" | "circuitUntilMs" | "disabledAtMs">;

export function healthOf({ failures, failingSinceMs, circuitUntilMs, disabledAtMs }: WebhookRecord): Health {
  return defined({ failures, failingSinceMs, circuitUntilMs, disabledAtMs });
}

export function isDelivered(answer: OutboundAnswer): boolean {
  return "status" in answer && answer.status >= 200 && answer.status < 300;
}

/** The status of a receiver that does not want any further deliveries. */
const GONE = 410;

/**
 * The health after an answer. A disabled webhook stays disabled until it is enabled by a request. A failure that arrives while the circuit is open does
 * not extend it: many deliveries fail together when a receiver goes away.
 */
export function healthAfter(health: Health, answer: OutboundAnswer, policy: RetryPolicy, moment: Moment): Health {
  const { disabledAtMs } = health;
  if (isDelivered(answer)) return disabledAtMs === undefined ? { failures: 0 } : { failures: 0, disabledAtMs };
  const { nowMs } = moment;
  const isGone = "status" in answer && answer.status === GONE;
  if (!isGone && (health.circuitUntilMs ?? 0) > nowMs) return health;
  const failures = health.failures + 1;
  const failingSinceMs = health.failingSinceMs ?? nowMs;
  const isHopeless = failures >= policy.disableAfter && nowMs - failingSinceMs >= policy.disableAfterMs;
  const untilMs = nowMs + circuitMs(failures, policy, moment);
  return {
    failures,
    failingSinceMs,
    ...(failures >= policy.circuitAfter ? { circuitUntilMs: untilMs } : {}),
    ...(disabledAtMs !== undefined ? { disabledAtMs } : isGone || isHopeless ? { disabledAtMs: nowMs } : {}),
  };
}

function circuitMs(failures: number, policy: RetryPolicy, { chance }: Moment): number {
  const { circuitAfter, circuitFirstMs, circuitMaxMs } = policy;
  return spread(Math.min(circuitMaxMs, circuitFirstMs * 2 ** (failures - circuitAfter)), chance);
}

interface AfterAttempt {
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly nextAtMs?: number;
  readonly lastStatus?: number;
  readonly lastError?: string;
}

/** The state of a delivery after the answer of its next attempt. */
export function deliveryAfter(
  attemptsBefore: number,
  answer: OutboundAnswer,
  health: Health | undefined,
  policy: RetryPolicy,
  { nowMs, chance }: Moment,
): AfterAttempt {
  const attempts = attemptsBefore + 1;
  const seen = "status" in answer ? { lastStatus: answer.status } : { lastError: answer.failure };
  if (isDelivered(answer)) return { state: "delivered", attempts, ...seen };
  if (attempts >= policy.attemptsMax || health?.disabledAtMs !== undefined) return { state: "dead", attempts, ...seen };
  const delayMs = Math.min(policy.maxMs, policy.firstMs * policy.factor ** (attempts - 1));
  const nextAtMs = Math.max(nowMs + spread(delayMs, chance), health?.circuitUntilMs ?? 0);
  return { state: "pending", attempts, nextAtMs, ...seen };
}

/** Up to a fifth more or less. */
function spread(ms: number, chance: number): number {
  return Math.round(ms * (0.8 + 0.4 * chance));
}
