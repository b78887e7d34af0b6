import { setTimeout as sleep } from "node:timers/promises";
import { auditDraft, refused } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { defined } from "../../protocol/defined.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { StoredReview } from "../../store/port/reviews.ts";
import type { Committed, Store, Unit } from "../../store/port/store.ts";
import { type Held, type Kept, newSession, type ReviewSession, type SessionBackend } from "../provider/session.ts";
import { isSessionID, newSessionID } from "../provider/stream-ids.ts";
import { cleanRound, cleanSession } from "./clean-review.ts";
import { movementOf, type ReviewMemory, type ReviewRound } from "./review-round.ts";
import { keptSession, SESSION_CHARACTERS_MAX } from "./session-limits.ts";
import { roundsOf } from "./stored-review.ts";

export interface StoreBackendSettings {
  /** The time for which a silent process holds a session. */
  readonly leaseMs: number;
  /** The time to wait for a session that others hold, and the interval of the checks. */
  readonly busyMs: number;
  readonly pollMs: number;
}

/**
 * Clients that are asked to retry hold no connection; one that retries a moment too early is let in. A requester with three
 * attempts, the default, outlasts the lease of a host that was killed.
 */
export const STORE_BACKEND_DEFAULTS: StoreBackendSettings = { leaseMs: 10_000, busyMs: 5000, pollMs: 100 };

export type ReviewStore = Pick<
  Store,
  "readReview" | "latestReview" | "reviewRounds" | "claimReview" | "renewReview" | "releaseReview" | "commit"
>;

export interface StoreBackendOf {
  readonly host: Pick<Host, "nowMs" | "newId" | "scrubber"> & { readonly store: ReviewStore };
  /** The owner of the sessions, who makes this request. */
  readonly caller: Caller;
  readonly agent: string;
}

/**
 * Sessions in the store of a host, as the caller may see them. A lease keeps others out while a review is made, and what is written
 * at its end is refused when the lease was lost: of two who answer the same turn, one has never answered.
 */
export function storeBackend(of: StoreBackendOf, settings: Partial<StoreBackendSettings> = {}): SessionBackend {
  const all = { ...STORE_BACKEND_DEFAULTS, ...settings };
  const { store } = of.host;
  return {
    withSession: (sessionID, work) => withSession(of, all, sessionID, work),
    withNewSession: (work) => withNewSession(of, work),
    fork: (sessionID) => fork(of, sessionID),
    latest: () => store.latestReview(of.caller, of.caller.principal),
    read: async (sessionID) => {
      const stored = await store.readReview(of.caller, sessionID);
      return stored && memoryOf(stored).session;
    },
  };
}

export function memoryOf({ memory }: StoredReview): ReviewMemory {
  return JSON.parse(memory) as ReviewMemory;
}

async function withSession<T>(
  of: StoreBackendOf,
  settings: StoreBackendSettings,
  sessionID: string,
  work: (session: ReviewSession) => Promise<Kept<T>>,
): Promise<Held<T>> {
  const { store, newId } = of.host;
  const owner = newId("req");
  const stored = isSessionID(sessionID) ? await claim(of, settings, sessionID, owner) : undefined;
  if (stored === undefined) return { ok: false, why: "unknown" };
  if (stored === "held") return { ok: false, why: "busy" };
  const stopRenewing = keepRenewing(of, settings, sessionID, owner);
  let isFree = false;
  try {
    const before = memoryOf(stored);
    const isFull = (before.characters ?? 0) >= SESSION_CHARACTERS_MAX;
    const { session, result } = await work(isFull ? { ...before.session, isFull } : before.session);
    if (session === undefined) return { ok: true, result };
    const committed = await store.commit(unitOf(of, stored, before, session, owner));
    isFree = committed.ok;
    return committed.ok ? { ok: true, result } : { ok: false, why: whyNot(committed) };
  } finally {
    stopRenewing();
    // Where the release fails too, the lease expires.
    if (!isFree) await store.releaseReview(sessionID, owner).catch(() => {});
  }
}

function whyNot({ refusal }: Extract<Committed, { ok: false }>): "unknown" | "busy" {
  if (refusal.type !== "review") throw refused(refusal);
  return refusal.there ? "busy" : "unknown";
}

async function claim(
  { host: { store, nowMs }, caller }: StoreBackendOf,
  { leaseMs, busyMs, pollMs }: StoreBackendSettings,
  sessionId: string,
  owner: string,
): Promise<StoredReview | "held" | undefined> {
  const giveUpMs = nowMs() + busyMs;
  for (;;) {
    const claimed = await store.claimReview(caller, { sessionId, owner, nowMs: nowMs(), untilMs: nowMs() + leaseMs });
    if (claimed !== "held" || nowMs() >= giveUpMs) return claimed;
    await sleep(pollMs);
  }
}

function keepRenewing(
  { host: { store, nowMs } }: StoreBackendOf,
  { leaseMs }: StoreBackendSettings,
  sessionId: string,
  owner: string,
): () => void {
  const timer = setInterval(() => {
    // A lease that could not be renewed is found out when the answer is written.
    store.renewReview(sessionId, owner, nowMs() + leaseMs).catch(() => {});
  }, leaseMs / 3);
  timer.unref();
  return () => clearInterval(timer);
}

async function withNewSession<T>(of: StoreBackendOf, work: (session: ReviewSession) => Promise<Kept<T>>): Promise<T> {
  const fresh = newSession(newSessionID(of.host.nowMs()));
  const stored = begun(of, fresh.sessionID);
  const { session = fresh, result } = await work(fresh);
  const committed = await of.host.store.commit(unitOf(of, stored, { conversation: 0, session: fresh }, session));
  if (!committed.ok) throw refused(committed.refusal);
  return result;
}

/** As it stands before it is written for the first time. */
function begun({ host, caller, agent }: StoreBackendOf, sessionId: string): StoredReview {
  const atMs = host.nowMs();
  return {
    sessionId,
    tenant: caller.tenant,
    ...defined({ workspace: caller.workspace }),
    agent,
    createdBy: caller.principal,
    createdAtMs: atMs,
    updatedAtMs: atMs,
    revision: 0,
    rounds: 0,
    memory: "",
  };
}

function unitOf(
  { host, caller, agent }: StoreBackendOf,
  stored: StoredReview,
  before: ReviewMemory,
  after: ReviewSession,
  heldBy?: string,
): Unit {
  const { scrubber } = host;
  const { sessionId, tenant } = stored;
  const atMs = host.nowMs();
  const clean = cleanSession(after, before.session, scrubber);
  // Decisions are compared with what was kept of earlier ones, so in the same words; the digest is of the artifact as it came.
  const moved = { ...after, decisions: clean.decisions };
  const { conversation, round } = movementOf(before, moved, { agent, by: caller.principal });
  const n = stored.rounds + 1;
  const rounds = round === undefined ? [] : [{ sessionId, n, atMs, body: JSON.stringify(cleanRound(round, scrubber)) }];
  const characters = (before.characters ?? 0) + (rounds[0]?.body.length ?? 0);
  const memory: ReviewMemory = { conversation, characters, session: keptSession(clean) };
  const session = {
    ...stored,
    agent,
    updatedAtMs: atMs,
    revision: stored.revision + 1,
    rounds: stored.rounds + rounds.length,
    memory: JSON.stringify(memory),
  };
  const note = { action: stored.revision === 0 ? "review.begin" : "review.round", details: counted(agent, round) };
  return {
    tenant,
    reviews: [{ type: "round", session, rounds, ...defined({ heldBy }) }],
    audit: [auditDraft(caller, atMs, sessionId, note)],
  };
}

/** Counts only, never content. */
function counted(agent: string, round: ReviewRound | undefined) {
  if (round === undefined) return { agent };
  const { iteration, outcome, remarks, decisions } = round;
  return { agent, iteration, outcome, remarks: remarks.length, decisions: decisions.length };
}

async function fork(of: StoreBackendOf, sessionID: string): Promise<string | undefined> {
  const { host, caller } = of;
  const source = await host.store.readReview(caller, sessionID);
  if (source === undefined) return undefined;
  const sessionId = newSessionID(host.nowMs());
  const { session, ...rest } = memoryOf(source);
  const memory: ReviewMemory = { ...rest, session: { ...session, sessionID: sessionId } };
  const copy: StoredReview = {
    ...begun(of, sessionId),
    agent: source.agent,
    revision: 1,
    rounds: source.rounds,
    memory: JSON.stringify(memory),
  };
  const rounds = await roundsOf(host.store, source);
  const committed = await host.store.commit({
    tenant: source.tenant,
    reviews: [{ type: "round", session: copy, rounds: rounds.map((round) => ({ ...round, sessionId })) }],
    audit: [auditDraft(caller, host.nowMs(), sessionId, { action: "review.fork", details: { from: sessionID } })],
  });
  if (!committed.ok) throw refused(committed.refusal);
  return sessionId;
}
