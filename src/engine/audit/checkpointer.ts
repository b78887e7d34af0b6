import { AppError } from "../../protocol/errors.ts";
import type { AuditBacklog, StoredCheckpoint } from "../../store/port/store.ts";
import type { Host } from "../host.ts";
import { type Anchor, type Anchors, anchorConflict, conflictError, strayCheckpoint } from "./anchor.ts";
import { ChainLinks } from "./chain-links.ts";
import { merkleRoot } from "./merkle.ts";
import { isUnreadable, readChain } from "./read-chain.ts";
import { type AuditSigner, checkpointName } from "./signer.ts";
import { UnsignedSince } from "./unsigned-since.ts";
import { verifyAudit } from "./verify.ts";

interface CheckpointSettings {
  /** The most entries one checkpoint covers. */
  readonly intervalEntries: number;
  /** The longest that an entry waits for a checkpoint when fewer come. */
  readonly intervalSeconds: number;
  readonly sweepMs: number;
}

export const CHECKPOINT_DEFAULTS: CheckpointSettings = { intervalEntries: 1000, intervalSeconds: 300, sweepMs: 2000 };

export interface Checkpointer {
  /** Covers everything the tenant's chain holds now. Throws when the chain does not hold. */
  checkpointTenant(tenant: string): Promise<void>;
  /** Makes the checkpoints that are due, for every tenant. */
  sweep(): Promise<void>;
  /** Sweeps now and from then on. */
  start(): void;
  stop(): Promise<void>;
  /** Tenants whose chain is not signed at present, each with the error. */
  refused(): ReadonlyMap<string, Error>;
}

const ATTEMPTS = 100;

/**
 * Signs the ends of audit chains. Any number of processes may do so for the same database: a checkpoint is only stored
 * after the one it was made after, so the slower of two leaves the field.
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
  /** Chains that do not hold are looked at again, and complained about, once per interval. */
  const leaveAloneUntilMs = new Map<string, number>();
  const refusals = new Map<string, Error>();
  const unsigned = new UnsignedSince();
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> = Promise.resolve();
  let stopped = true;

  /** False when another process was first. */
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

  /** The anchor is durable before the signature exists, so no signature covers a chain that the anchor does not know. */
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

  /** Entries between the anchor and the last checkpoint were signed by another host, or before there was an anchor. */
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
    const what = checkpointsValid ? `the chain does not hold at entry ${atSeq}` : "a checkpoint does not hold";
    throw conflictError(tenant, { atSeq, problem: `${what}, after entry ${from}, the last that is known to be sound` });
  }

  /**
   * A host that was not started again since the key was replaced must not sign after one that was: a checkpoint by an older key is not
   * valid there, and checkpoints are never removed.
   */
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

  /** A checkpoint that was put there by hand must not look like one of another process: nothing would be signed any more. */
  async function requireNoStray(tenant: string): Promise<void> {
    const stray = await strayCheckpoint(store, tenant);
    if (stray !== undefined) throw conflictError(tenant, stray);
  }

  /** Full intervals at once; the rest when the time since the last checkpoint would be over before the next sweep. */
  function dueThrough(backlog: AuditBacklog): number {
    const { headSeq, checkpointSeq, checkpointAtMs } = backlog;
    const now = nowMs();
    // The time of a checkpoint is not signed. Whoever writes a later one, once or over and over, must not put off the next.
    const waitedMs = Math.max(now - checkpointAtMs, now - unsigned.sinceMs(backlog, now));
    if (checkpointSeq > headSeq || waitedMs + sweepMs >= intervalMs || now - checkpointAtMs < -intervalMs)
      return headSeq;
    return headSeq - ((headSeq - checkpointSeq) % intervalEntries);
  }

  function noteRefusal(tenant: string, error: unknown): void {
    if (isRefusal(error)) {
      leaveAloneUntilMs.set(tenant, nowMs() + intervalMs);
      refusals.set(tenant, error);
    }
    onTrouble(error);
  }

  /** At the start, so that a database that was rolled back is reported before anything is due to be signed. */
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
      if ((leaveAloneUntilMs.get(tenant) ?? 0) > nowMs()) continue;
      leaveAloneUntilMs.delete(tenant);
      try {
        const through = dueThrough(backlog);
        if (through === checkpointSeq) continue;
        await cover(tenant, checkpointSeq, through);
        refusals.delete(tenant);
      } catch (error) {
        // One tenant's trouble is not the others'.
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
      // Another process may be first each time, but then the chain is covered a little further each time.
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

/** A signature says that this is how the log was, so none is given over a log that contradicts itself. */
class BrokenChain extends Error {
  constructor(tenant: string, atSeq: number) {
    super(`the audit chain of tenant ${tenant} does not hold at entry ${atSeq}; no checkpoint is signed over it`);
  }
}

/** Refusals last until an operator acts; all other errors are tried again at the next sweep. */
function isRefusal(error: unknown): error is Error {
  if (error instanceof BrokenChain) return true;
  return (
    error instanceof AppError && (error.code === "audit_anchor_conflict" || error.code === "audit_anchor_unusable")
  );
}

/** The hashes of `(after, through]`, computed from content, after checking that they are a chain. */
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
