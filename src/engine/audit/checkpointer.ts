import { AppError } from "../../protocol/errors.ts";
import type { AuditBacklog, StoredCheckpoint } from "../../store/port/store.ts";
import type { Host } from "../host.ts";
import { type Anchor, type Anchors, anchorConflict, conflictError, strayCheckpoint } from "./anchor.ts";
import { ChainLinks, isUnreadable, readChain } from "./chain.ts";
import { merkleRoot } from "./checkpoint-series.ts";
import { type AuditSigner, checkpointName } from "./signer.ts";
import { verifyAudit } from "./verify.ts";

interface CheckpointSettings {
  /** The entries of one checkpoint, at most. */
  readonly intervalEntries: number;
  /** The longest wait of an entry for a checkpoint. */
  readonly intervalSeconds: number;
  readonly sweepMs: number;
}

export const CHECKPOINT_DEFAULTS: CheckpointSettings = { intervalEntries: 1000, intervalSeconds: 300, sweepMs: 2000 };

export interface Checkpointer {
  /** Signs all present entries of the tenant's chain. Throws where the chain is broken. */
  checkpointTenant(tenant: string): Promise<void>;
  /** Makes the due checkpoints of all tenants. */
  sweep(): Promise<void>;
  /** Sweeps now and from time to time. */
  start(): void;
  stop(): Promise<void>;
  /** Tenants whose chain is not being signed, each with the error. */
  refused(): ReadonlyMap<string, Error>;
}

const ATTEMPTS = 100;

/**
 * Signs the ends of audit chains. Any number of processes may do so for the same database: a checkpoint is stored only directly after the one that it
 * was made after, so the slower of two is dropped.
 */
export function checkpointer(
  host: Pick<Host, "store" | "nowMs" | "newId">,
  signer: AuditSigner,
  settings: CheckpointSettings = CHECKPOINT_DEFAULTS,
  onTrouble: (error: unknown) => void = () => {},
  anchors?: Anchors,
): Checkpointer {
  const { store, nowMs, newId } = host;
  const { intervalEntries, sweepMs } = settings;
  const intervalMs = settings.intervalSeconds * 1000;
  /** The end of the pause for refused chains, which are checked again, and reported, once per interval. */
  const pausedUntilMs = new Map<string, number>();
  const refusals = new Map<string, Error>();
  const unsigned = new UnsignedSince();
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> = Promise.resolve();
  let stopped = true;

  /** Signs and stores one checkpoint; false where another process was first. */
  async function cut(tenant: string, prevSequence: number, atSequence: number): Promise<boolean> {
    const hashes = await soundHashes(host, tenant, prevSequence, atSequence);
    const root = merkleRoot(hashes);
    const signed = (): StoredCheckpoint => ({
      checkpoint: checkpointName(newId("cp"), signer.publicKey),
      atSequence,
      merkleRoot: root,
      signature: signer.sign(root),
      prevSequence,
      atMs: nowMs(),
    });
    if (anchors === undefined) return store.putCheckpoint(tenant, signed());
    const reached = { seq: atSequence, hash: hashes.at(-1) ?? "" };
    return anchors.hold(tenant, () => putAnchored(anchors, tenant, prevSequence, reached, signed));
  }

  /** The anchor is durable before the signature exists, so no signature is for a chain that the anchor does not have. */
  async function putAnchored(
    anchors: Anchors,
    tenant: string,
    prevSequence: number,
    reached: Pick<Anchor, "seq" | "hash">,
    signed: () => StoredCheckpoint,
  ): Promise<boolean> {
    const known = await anchors.read(tenant);
    await requireAnchored(tenant, known, prevSequence);
    const anchor = known !== undefined && known.seq > reached.seq ? known : { ...known, ...reached };
    await anchors.write(tenant, anchor);
    const checkpoint = signed();
    if (!(await store.putCheckpoint(tenant, checkpoint))) return false;
    const { atSequence, merkleRoot } = checkpoint;
    await anchors.write(tenant, { ...anchor, checkpoint: { atSequence, merkleRoot } });
    return true;
  }

  /** Checks the chain against its anchor. Entries between the anchor and the last checkpoint were signed by another host, or before the anchor. */
  async function requireAnchored(tenant: string, anchor: Anchor | undefined, prevSequence: number): Promise<void> {
    const conflict = anchor && (await anchorConflict(store, tenant, anchor));
    if (conflict !== undefined) throw conflictError(tenant, conflict);
    if (anchor !== undefined) await requireKnownKey(tenant, prevSequence);
    const from = anchor?.seq ?? 0;
    if (from >= prevSequence) return;
    const { chainValid, checkpointsValid, anomalies } = await verifyAudit(store, signer, tenant, from, prevSequence);
    // A log without an anchor may have checkpoints of a key that was replaced before keys were listed.
    if (anomalies.length === 0 && (chainValid || anchor === undefined)) return;
    const atSeq = anomalies[0]?.atSeq ?? prevSequence;
    const what = checkpointsValid ? `the chain is broken at entry ${atSeq}` : "a checkpoint is not valid";
    throw conflictError(tenant, { atSeq, problem: `${what}, after entry ${from}, the last that is known to be sound` });
  }

  /** Refuses to sign after a checkpoint of an unknown, newer key: a later checkpoint of an older key is not valid, and checkpoints are never removed. */
  async function requireKnownKey(tenant: string, atSeq: number): Promise<void> {
    const [last] = await store.readCheckpoints(tenant, atSeq, atSeq, 1);
    if (last === undefined || signer.signedBy(last.merkleRoot, last.signature, last.checkpoint) !== undefined) return;
    const problem = `the checkpoint at entry ${atSeq} was signed by no key of this host: if the key was replaced, start this host again with the new one, or list the earlier one (assay audit rotate-key --trust)`;
    throw conflictError(tenant, { atSeq, problem });
  }

  async function cover(tenant: string, afterSeq: number, throughSeq: number): Promise<void> {
    if (afterSeq > throughSeq) await requireNoStray(tenant);
    for (let prev = afterSeq; prev < throughSeq; prev += intervalEntries) {
      if (await cut(tenant, prev, Math.min(prev + intervalEntries, throughSeq))) continue;
      return requireNoStray(tenant);
    }
  }

  /** Throws for a checkpoint that was written by hand: taken for one of another process, it would stop all signing. */
  async function requireNoStray(tenant: string): Promise<void> {
    const stray = await strayCheckpoint(store, tenant);
    if (stray !== undefined) throw conflictError(tenant, stray);
  }

  /** The end of the due entries: full intervals, and the rest where its time would be over before the next sweep. */
  function dueThrough(backlog: AuditBacklog): number {
    const { headSeq, checkpointSeq, checkpointAtMs } = backlog;
    const now = nowMs();
    // The time of a checkpoint is not signed: a later time, written by hand, must not delay the next checkpoint.
    const waitedMs = Math.max(now - checkpointAtMs, now - unsigned.sinceMs(backlog, now));
    const isDue = checkpointSeq > headSeq || waitedMs + sweepMs >= intervalMs || now - checkpointAtMs < -intervalMs;
    return isDue ? headSeq : headSeq - ((headSeq - checkpointSeq) % intervalEntries);
  }

  function noteRefusal(tenant: string, error: unknown): void {
    if (isRefusal(error)) {
      pausedUntilMs.set(tenant, nowMs() + intervalMs);
      refusals.set(tenant, error);
    }
    onTrouble(error);
  }

  /** Done at the start, so that a database that was rolled back is reported before anything is signed. */
  async function compareWithAnchors(): Promise<void> {
    for (const tenant of (await anchors?.tenants()) ?? []) {
      const anchor = await anchors?.read(tenant);
      const conflict = anchor && (await anchorConflict(store, tenant, anchor));
      if (conflict !== undefined) noteRefusal(tenant, conflictError(tenant, conflict));
    }
  }

  async function sweep(): Promise<void> {
    for (const backlog of await store.auditBacklog()) {
      const { tenant, checkpointSeq } = backlog;
      if ((pausedUntilMs.get(tenant) ?? 0) > nowMs()) continue;
      pausedUntilMs.delete(tenant);
      try {
        const through = dueThrough(backlog);
        if (through === checkpointSeq) continue;
        await cover(tenant, checkpointSeq, through);
        refusals.delete(tenant);
      } catch (error) {
        // The error of one tenant does not stop the others.
        noteRefusal(tenant, error);
      }
    }
  }

  function tick(before: Promise<void> = Promise.resolve()): void {
    sweeping = before
      .then(sweep)
      .catch(onTrouble)
      .then(() => {
        if (!stopped) timer = setTimeout(() => tick(), sweepMs).unref();
      });
  }

  return {
    sweep,
    refused: () => refusals,
    async checkpointTenant(tenant) {
      let through: number | undefined;
      // Another process may be first each time, but then the chain is signed a little further each time.
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const backlog = (await store.auditBacklog()).find((each) => each.tenant === tenant);
        through ??= backlog?.headSeq;
        if (backlog === undefined || through === undefined) return;
        const { headSeq, checkpointSeq } = backlog;
        if (checkpointSeq > headSeq) await requireNoStray(tenant);
        if (checkpointSeq >= through) return;
        await cover(tenant, checkpointSeq, through);
      }
    },
    start() {
      if (!stopped) return;
      stopped = false;
      tick(compareWithAnchors().catch(onTrouble));
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await sweeping;
    },
  };
}

/** A broken log is not signed. */
class BrokenChain extends Error {
  constructor(tenant: string, atSeq: number) {
    super(`the audit chain of tenant ${tenant} is broken at entry ${atSeq}; no checkpoint of it is signed`);
  }
}

/** Whether an error lasts until an operator acts; others are tried again at the next sweep. */
function isRefusal(error: unknown): error is Error {
  if (error instanceof BrokenChain) return true;
  return (
    error instanceof AppError && (error.code === "audit_anchor_conflict" || error.code === "audit_anchor_unusable")
  );
}

/** The hashes of `(after, through]`, computed from content. Throws where they are no chain. */
async function soundHashes(
  { store }: Pick<Host, "store">,
  tenant: string,
  after: number,
  through: number,
): Promise<string[]> {
  // From the last entry of the checkpoint before, so that the first link is checked too.
  const links = new ChainLinks(Math.max(1, after), after === 0 ? null : undefined);
  const hashes: string[] = [];
  for await (const page of readChain(store, tenant, Math.max(1, after), through)) {
    for (const item of page) {
      const hash = isUnreadable(item) ? links.takeUnreadable(item.atSequence) : links.take(item);
      if (hash !== undefined && item.atSequence > after) hashes.push(hash);
    }
  }
  links.expectThrough(through);
  const [broken] = links.anomalies;
  if (broken) throw new BrokenChain(tenant, broken.atSeq);
  return hashes;
}

interface Waiting {
  readonly seq: number;
  readonly sinceMs: number;
}

/** The time since which entries wait for a checkpoint, by the clock of this process: times in the database can be changed by hand. */
class UnsignedSince {
  readonly #waiting = new Map<string, Waiting>();

  /** To be called whenever a tenant has entries after its last checkpoint. */
  sinceMs({ tenant, headSeq, checkpointSeq }: AuditBacklog, nowMs: number): number {
    const known = this.#waiting.get(tenant);
    if (known !== undefined && known.seq > checkpointSeq) return known.sinceMs;
    this.#waiting.set(tenant, { seq: headSeq, sinceMs: nowMs });
    return nowMs;
  }
}
