import type { AuditAnomaly } from "../../protocol/audit/audit.ts";
import { ChainLinks } from "./chain-links.ts";
import { CheckpointSeries } from "./checkpoint-series.ts";
import { type CopyHeader, type CopyLine, readCopyLine, unusable } from "./copy-line.ts";
import { auditVerifier } from "./signer.ts";

interface AuditCopyResult {
  readonly tenant: string;
  /** The key the checkpoints were checked with. Compare it with what discovery published, or give it. */
  readonly publicKey: string;
  readonly fromSeq: number;
  /** The last entry of the copy; `fromSeq - 1` when there is none. */
  readonly toSeq: number;
  readonly chainValid: boolean;
  readonly checkpointsValid: boolean;
  readonly checkpoints: number;
  /** In a copy that begins later than the log: checkpoints whose first entries it does not have. */
  readonly signatureOnly: number;
  /** The last entry that a checkpoint signs, 0 where there is none: whatever comes after it, anybody can have written. */
  readonly signedThrough: number;
  readonly anomalies: readonly AuditAnomaly[];
}

/** Public keys that came another way than the copy; without one those of its header are used. */
interface TrustedKeys {
  readonly publicKey?: string;
  /** Newest first. */
  readonly earlierPublicKeys?: readonly string[];
}

/**
 * Checks a copy of an audit log with nothing but the copy and, better, a public key that came another way. Holds no
 * more than the hashes since the last checkpoint. Throws `unusable_input` for a text that is no such copy.
 */
export async function verifyAuditCopy(
  lines: Iterable<string> | AsyncIterable<string>,
  { publicKey, earlierPublicKeys }: TrustedKeys = {},
): Promise<AuditCopyResult> {
  let check: CopyCheck | undefined;
  let lineNumber = 0;
  for await (const text of lines) {
    lineNumber += 1;
    if (text.trim() === "") continue;
    const line = readCopyLine(text, lineNumber);
    if ((line.kind === "header") !== (check === undefined)) {
      throw unusable(lineNumber, check === undefined ? "is not the header" : "is a second header");
    }
    if (line.kind === "header") {
      const { header } = line;
      check =
        publicKey === undefined
          ? new CopyCheck(header, header.publicKey, header.earlierPublicKeys)
          : new CopyCheck(header, publicKey, earlierPublicKeys);
    }
    if (line.kind !== "header") check?.take(line);
  }
  if (check === undefined) throw unusable(1, "is missing: there is no header");
  return check.result();
}

class CopyCheck {
  readonly #header: CopyHeader;
  readonly #publicKey: string;
  readonly #links: ChainLinks;
  readonly #series: CheckpointSeries;
  #checkpoints = 0;
  #toSeq: number;

  constructor(header: CopyHeader, publicKey: string, earlier: readonly string[] = []) {
    const fromStart = header.fromSeq === 1;
    this.#header = header;
    this.#publicKey = publicKey;
    this.#toSeq = header.fromSeq - 1;
    this.#links = new ChainLinks(header.fromSeq, fromStart ? null : undefined);
    this.#series = new CheckpointSeries(auditVerifier(publicKey, earlier), fromStart ? 0 : undefined);
  }

  take(line: Exclude<CopyLine, { kind: "header" }>): void {
    if (line.kind === "checkpoint") {
      this.#checkpoints += 1;
      this.#series.checkpoint(line.checkpoint);
      return;
    }
    const { atSequence } = line.entry;
    const hash = this.#links.take(line.entry);
    this.#series.entry(atSequence, hash);
    this.#toSeq = Math.max(this.#toSeq, atSequence);
    const { head } = this.#header;
    if (atSequence === head?.seq && hash !== undefined && hash !== head.hash) {
      this.#links.anomalies.push({ atSeq: head.seq, expectedPrevHash: hash, actualPrevHash: head.hash });
    }
  }

  result(): AuditCopyResult {
    const { tenant, fromSeq, head } = this.#header;
    this.#series.end();
    this.#links.expectThrough(head?.seq ?? 0);
    const { anomalies } = this.#links;
    const { valid, signatureOnly, signedThrough } = this.#series;
    return {
      tenant,
      publicKey: this.#publicKey,
      fromSeq,
      toSeq: this.#toSeq,
      chainValid: valid && anomalies.length === 0,
      checkpointsValid: valid,
      checkpoints: this.#checkpoints,
      signatureOnly,
      signedThrough,
      anomalies,
    };
  }
}
