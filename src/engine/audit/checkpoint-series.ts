import { createHash } from "node:crypto";
import type { AuditCheckpoint } from "../../protocol/audit/audit.ts";
import type { AuditVerifier } from "./signer.ts";

/** A checkpoint and, where it is known, the end of the one before as it says. */
type ClaimedCheckpoint = AuditCheckpoint & { readonly prevSequence?: number };

/**
 * Checks checkpoints against the hashes of their entries; both are given in ascending order, in any mixture. The entries of a checkpoint begin after
 * the checkpoint before, whatever it says itself: the leaf count is fixed.
 */
export class CheckpointSeries {
  valid = true;
  /** The number of checkpoints of which only the signature could be checked, because the copy does not have their first entries. */
  signatureOnly = 0;
  /** The last entry of a checkpoint whose entries are all there; 0 without one. */
  signedThrough = 0;
  readonly #verifier: AuditVerifier;
  /** The entry after which the next checkpoint's entries begin; undefined where the earlier log is missing. */
  #after: number | undefined;
  #seen = 0;
  /** The index of the last signing key. After a newer key has signed, an older one is not valid any more: it may be in other hands. */
  #keyPlace = Number.POSITIVE_INFINITY;
  readonly #hashes = new Map<number, string>();
  readonly #waiting: ClaimedCheckpoint[] = [];

  constructor(verifier: AuditVerifier, after: number | undefined) {
    this.#verifier = verifier;
    this.#after = after;
  }

  checkpoint(checkpoint: ClaimedCheckpoint): void {
    this.#waiting.push(checkpoint);
    this.#settle();
  }

  /** An entry without a hash fails the checkpoint that covers it. */
  entry(seq: number, hash: string | undefined): void {
    if (hash !== undefined && seq > (this.#after ?? 0)) this.#hashes.set(seq, hash);
    this.#seen = Math.max(this.#seen, seq);
    this.#settle();
  }

  /** Checkpoints whose last entry is missing are not valid. */
  end(): void {
    if (this.#waiting.length > 0) this.valid = false;
  }

  #settle(): void {
    while (this.#waiting[0] !== undefined && this.#waiting[0].atSequence <= this.#seen) {
      const checkpoint = this.#waiting.shift();
      if (checkpoint === undefined) continue;
      const signatureOnly = this.#after === undefined;
      if (!this.#holds(checkpoint)) this.valid = false;
      else if (!signatureOnly) this.signedThrough = checkpoint.atSequence;
    }
  }

  #holds({ checkpoint, atSequence, prevSequence, merkleRoot: root, signature }: ClaimedCheckpoint): boolean {
    const after = this.#after;
    this.#after = atSequence;
    const leaves = this.#takeHashes(after ?? 0, atSequence);
    const keyPlace = this.#verifier.signedBy(root, signature, checkpoint);
    if (keyPlace === undefined || keyPlace > this.#keyPlace) return false;
    this.#keyPlace = keyPlace;
    if (after === undefined) {
      this.signatureOnly += 1;
      return true;
    }
    if (prevSequence !== undefined && prevSequence !== after) return false;
    return leaves.length > 0 && leaves.length === atSequence - after && merkleRoot(leaves) === root;
  }

  /** Removes and returns the hashes in `(after, through]`, in order. */
  #takeHashes(after: number, through: number): string[] {
    const taken: string[] = [];
    for (const [seq, hash] of this.#hashes) {
      if (seq > through) break;
      if (seq > after) taken.push(hash);
      this.#hashes.delete(seq);
    }
    return taken;
  }
}

/** The Merkle root of consecutive entries' hashes (RFC 0218): a parent is the SHA-256 of its children's hex digits, and an odd last node moves up unchanged. */
export function merkleRoot(leaves: readonly string[]): string {
  let level = leaves;
  while (level.length > 1) {
    const parents: string[] = [];
    for (let i = 0; i < level.length; i += 2) {
      const [left = "", right] = level.slice(i, i + 2);
      parents.push(right === undefined ? left : parentOf(left, right));
    }
    level = parents;
  }
  const [root] = level;
  if (root === undefined) throw new Error("a checkpoint covers at least one entry");
  return root;
}

function parentOf(left: string, right: string): string {
  return createHash("sha256").update(`${left}${right}`, "ascii").digest("hex");
}
