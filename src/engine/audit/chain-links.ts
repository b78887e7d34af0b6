import { entryHash } from "../../formats/audit/audit-entry-hash.ts";
import type { AuditAnomaly, AuditEntry } from "../../protocol/audit/audit.ts";

/** Enough to see what happened; a log rewritten from end to end must not become an answer of the same size. */
const ANOMALIES_MAX = 1000;

/** What an anomaly says where there is no hash: the first entry follows nothing, and some are not there or not legible. */
const GENESIS = "null";
const UNKNOWN = "unknown";
const NOTHING = "";

/**
 * Follows a chain from entry to entry, computing every hash from content. An anomaly stands at the entry that does not
 * carry the hash of the one before it, so a changed entry shows at its successor; a missing entry shows at its own place.
 */
export class ChainLinks {
  readonly anomalies: AuditAnomaly[] = [];
  #nextSeq: number;
  /** Of the entry before: null before the first, undefined where it cannot be known. */
  #hash: string | null | undefined;

  constructor(firstSeq: number, hashBefore: string | null | undefined) {
    this.#nextSeq = firstSeq;
    this.#hash = hashBefore;
  }

  /** The hash of the entry, or undefined when its content has none. */
  take(entry: AuditEntry): string | undefined {
    const { atSequence, prevHash } = entry;
    this.expectThrough(atSequence - 1);
    const repeated = atSequence < this.#nextSeq;
    if (repeated || (this.#hash !== undefined && prevHash !== this.#hash))
      this.#report(atSequence, prevHash ?? NOTHING);
    if (repeated) return undefined;
    const hash = hashOf(entry);
    if (hash === undefined) this.#report(atSequence, NOTHING);
    this.#moveTo(atSequence, hash);
    return hash;
  }

  /** There is an entry, but nothing that could be read. */
  takeUnreadable(atSequence: number): undefined {
    this.expectThrough(atSequence - 1);
    this.#report(atSequence, NOTHING);
    this.#moveTo(atSequence, undefined);
  }

  /** One anomaly for all that is missing up to here, at the first of them. */
  expectThrough(seq: number): void {
    if (this.#nextSeq > seq) return;
    this.#report(this.#nextSeq, NOTHING);
    this.#moveTo(seq, undefined);
  }

  #moveTo(seq: number, hash: string | undefined): void {
    this.#nextSeq = seq + 1;
    this.#hash = hash;
  }

  #report(atSeq: number, actualPrevHash: string): void {
    const expectedPrevHash = this.#hash === undefined ? UNKNOWN : (this.#hash ?? GENESIS);
    if (this.anomalies.length < ANOMALIES_MAX) this.anomalies.push({ atSeq, expectedPrevHash, actualPrevHash });
  }
}

/** Only content that somebody put into the database by hand can have no canonical form. */
function hashOf(entry: AuditEntry): string | undefined {
  try {
    return entryHash(entry);
  } catch {
    return undefined;
  }
}
