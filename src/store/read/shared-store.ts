import type { Kysely } from "kysely";
import type { Store } from "../port/store.ts";
import type { Tables } from "../schema/tables.ts";
import * as changes from "./annotation-changes.ts";
import * as annotations from "./annotations.ts";
import * as audit from "./audit.ts";
import * as documents from "./documents.ts";
import * as ended from "./ended-runs.ts";
import { findEvents } from "./event-places.ts";
import { feedbackSummary } from "./feedback-summary.ts";
import { gateSummary } from "./gate-summary.ts";
import * as interrupts from "./interrupts.ts";
import * as keys from "./keys.ts";
import * as queues from "./queues.ts";
import * as reviews from "./reviews.ts";
import { readHead } from "./run-heads.ts";
import * as runs from "./runs.ts";
import * as side from "./side.ts";
import * as tapes from "./tapes.ts";
import * as webhooks from "./webhooks.ts";
import * as workQueue from "./work-queue.ts";
import * as workflows from "./workflows.ts";

/** What an adapter adds: commits, claims, notices of changes, its own end, and the reads that are hot. */
export type SharedStore = Omit<
  Store,
  | "commit"
  | "claimRuns"
  | "renewLeases"
  | "finishAttempt"
  | "onChange"
  | "ping"
  | "close"
  | "readRun"
  | "readEvents"
  | "findEvent"
  | "annotationsOfRun"
  | "readIdempotency"
  | "findKey"
  | "membershipOf"
>;

/** The functions without their first parameter, which is this handle. */
type Over<H, F> = {
  readonly [K in keyof F]: F[K] extends (handle: H, ...args: infer A) => infer R ? (...args: A) => R : never;
};

export function over<H, F extends object>(handle: H, functions: F): Over<H, F> {
  const methods = Object.entries<(handle: H, ...args: never[]) => unknown>({ ...functions } as never).map(
    ([name, method]) => [name, (...args: never[]) => method(handle, ...args)],
  );
  return Object.fromEntries(methods) as Over<H, F>;
}

/**
 * Everything both databases do with the same statements. `write` may be another handle than `read`; every statement
 * given to it is complete in itself.
 */
export function sharedStore(read: Kysely<Tables>, write: Kysely<Tables>): SharedStore {
  return {
    ...over(read, { ...workflows, ...interrupts, ...queues, ...tapes, ...documents, ...workQueue }),
    ...over(read, { ...keys, ...annotations, findEvents, gateSummary, feedbackSummary }),

    ...over(read, runs),
    readHead: (visible, runId) => readHead(write, visible, runId),
    listRuns: (visible, query) => runs.listRuns(read, write, visible, query),
    activeDescendants: (visible, query) => runs.activeDescendants(read, write, visible, query),

    ...over(read, ended),
    deletionOf: (visible, runId) => ended.deletionOf(read, write, visible, runId),

    ...over(read, changes),
    putCursor: (name, tenant, place) => changes.putCursor(write, name, tenant, place),

    ...over(read, webhooks),
    claimDeliveries: (claim) => webhooks.claimDeliveries(write, read, claim),
    redeliver: (visible, which, nowMs) => webhooks.redeliver({ read, write }, visible, which, nowMs),

    ...over(read, reviews),
    claimReview: (visible, claim) => reviews.claimReview(write, read, visible, claim),
    renewReview: (sessionId, owner, untilMs) => reviews.renewReview(write, sessionId, owner, untilMs),
    releaseReview: (sessionId, owner) => reviews.releaseReview(write, sessionId, owner),

    ...over(read, audit),
    putCheckpoint: (tenant, checkpoint) => audit.putCheckpoint(write, tenant, checkpoint),

    ...over(read, side),
    claimIdempotency: (claim) => side.claimIdempotency(write, read, claim),
    releaseIdempotency: (key, leaseOwner) => side.releaseIdempotency(write, key, leaseOwner),
    hostSecret: (name, make) => side.hostSecret(write, read, name, make),
    purge: (nowMs) => side.purge(write, nowMs),
  };
}
