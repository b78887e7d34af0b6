import type { AuditCheckpoint } from "../../protocol/audit/audit.ts";
import { merkleRoot } from "./merkle.ts";
import type { AuditVerifier } from "./signer.ts";

/** A checkpoint and, where it is known, what it says about the one before. */
type ClaimedCheckpoint = AuditCheckpoint & { readonly prevSequence?: number };

/**
 * Checks checkpoints against the hashes of the entries they cover, both given in ascending order and in any mixture.
 * What a checkpoint covers begins after the one before, whatever it says itself: the leaf count is fixed.
 */
export class CheckpointSeries {
  valid = true;
  /** Checkpoints of which only the signature could be checked, because their first entries are not part of the copy. */
  signatureOnly = 0;
  /** The last entry that a checkpoint signs, as far as its entries are at hand; 0 where there is none. */
  signedThrough = 0;
  readonly #verifier: AuditVerifier;
  /** Where the next checkpoint's entries begin; undefined when the log before is not at hand. */
  #after: number | undefined;
  #seen = 0;
  /** The place of the key that signed last. Once a newer key signed, an older one signs no more: it may be in other hands by now. */
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

  /** Checkpoints whose last entry never came are not valid. */
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

  /** Those there are in `(after, through]`, in order; they are not needed again. */
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
