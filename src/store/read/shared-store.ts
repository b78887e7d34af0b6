import type { Kysely } from "kysely";
import type { Store } from "../port/store.ts";
import type { Tables } from "../schema/tables.ts";
import { OF_HOST, OF_SOME_TENANT } from "../units/group-commit.ts";
import * as changes from "./annotation-changes.ts";
import * as annotations from "./annotations.ts";
import * as audit from "./audit.ts";
import * as documents from "./documents.ts";
import * as ended from "./ended-runs.ts";
import { feedbackSummary } from "./feedback-summary.ts";
import { gateSummary } from "./gate-summary.ts";
import * as interrupts from "./interrupts.ts";
import * as keys from "./keys.ts";
import * as queues from "./queues.ts";
import * as reviews from "./reviews.ts";
import { findEvents, readHead } from "./run-heads.ts";
import * as runs from "./runs.ts";
import * as side from "./side.ts";
import * as tapes from "./tapes.ts";
import * as webhooks from "./webhooks.ts";
import * as workQueue from "./work-queue.ts";
import * as workflows from "./workflows.ts";

/** The members that each adapter implements itself: commits, claims, notices of changes, its end, and frequent reads. */
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

/** A handle for each tenant, through which its statements take turns with those of others. */
export type Handles<H> = (tenant: string) => H;

/** The functions without their first parameter, which is a handle. */
type Over<H, F> = {
  readonly [K in keyof F]: F[K] extends (handle: H, ...args: infer A) => infer R ? (...args: A) => R : never;
};

export function over<H, F extends object>(handles: Handles<H>, functions: F): Over<H, F> {
  const methods = Object.entries<(handle: H, ...args: unknown[]) => unknown>({ ...functions } as never).map(
    ([name, method]) => [name, (...args: unknown[]) => method(handles(tenantIn(name, args[0])), ...args)],
  );
  return Object.fromEntries(methods) as Over<H, F>;
}

/** Reads whose first argument is the name of a tenant. */
export const NAMED_BY_TENANT: ReadonlySet<string> = new Set<keyof SharedStore>([
  "countHeldEvents",
  "readWorkflow",
  "readWorkflowHash",
  "listWorkflows",
  "listWorkflowHeads",
  "readDocuments",
  "listDocuments",
  "documentSizes",
  "runOutlines",
  "countWorkingKeys",
  "hasOtherOwner",
  "customRoles",
  "ownRoles",
  "membershipAnywhere",
  "bindingsOf",
  "readAudit",
  "auditHead",
  "readCheckpoints",
  "putCheckpoint",
  "reviewRounds",
  "annotationsById",
  "liveAnnotations",
  "annotationBytes",
  "annotationChanges",
  "annotationHead",
  "changePlace",
  "changePlaceAt",
  "queueItemsById",
]);

/** The tenant that a read is for: that of its first argument, where it has one. */
function tenantIn(name: string, first: unknown): string {
  if (typeof first === "string") return NAMED_BY_TENANT.has(name) ? first : OF_SOME_TENANT;
  const { tenant } = (first ?? {}) as { readonly tenant?: unknown };
  return typeof tenant === "string" ? tenant : OF_SOME_TENANT;
}

/**
 * Everything both databases do with the same statements. `write` may have other handles than `read`; every statement
 * given to one is complete in itself.
 */
export function sharedStore(read: Handles<Kysely<Tables>>, write: Handles<Kysely<Tables>>): SharedStore {
  const [host, hostWrites] = [read(OF_HOST), write(OF_HOST)];
  return {
    ...over(read, { ...workflows, ...interrupts, ...queues, ...tapes, ...documents }),
    ...over(() => host, workQueue),
    ...over(read, { ...keys, ...annotations, findEvents, gateSummary, feedbackSummary }),

    ...over(read, runs),
    ...over(write, { readHead }),
    listRuns: (visible, query) => runs.listRuns(read(visible.tenant), write(visible.tenant), visible, query),
    activeDescendants: (visible, query) =>
      runs.activeDescendants(read(visible.tenant), write(visible.tenant), visible, query),

    ...over(read, ended),
    deletionOf: (visible, runId) => ended.deletionOf(read(visible.tenant), write(visible.tenant), visible, runId),

    ...over(read, changes),
    putCursor: (name, tenant, place) => changes.putCursor(hostWrites, name, tenant, place),

    ...over(read, webhooks),
    claimDeliveries: (claim) => webhooks.claimDeliveries(hostWrites, host, claim),
    redeliver: (visible, which, nowMs) =>
      webhooks.redeliver({ read: read(visible.tenant), write: write(visible.tenant) }, visible, which, nowMs),

    ...over(read, reviews),
    claimReview: (visible, claim) => reviews.claimReview(write(visible.tenant), read(visible.tenant), visible, claim),
    renewReview: (sessionId, owner, untilMs) => reviews.renewReview(hostWrites, sessionId, owner, untilMs),
    releaseReview: (sessionId, owner) => reviews.releaseReview(hostWrites, sessionId, owner),

    ...over(read, audit),
    putCheckpoint: (tenant, checkpoint) => audit.putCheckpoint(hostWrites, tenant, checkpoint),

    ...over(read, side),
    claimIdempotency: (claim) => side.claimIdempotency(write(claim.tenant), read(claim.tenant), claim),
    releaseIdempotency: (key, leaseOwner) => side.releaseIdempotency(hostWrites, key, leaseOwner),
    hostSecret: (name, make) => side.hostSecret(hostWrites, host, name, make),
    purge: (nowMs) => side.purge(hostWrites, nowMs),
  };
}
