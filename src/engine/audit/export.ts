import { type AuditAnomaly, AuditCheckpoint, AuditEntry } from "../../protocol/audit/audit.ts";
import { AppError } from "../../protocol/errors.ts";
import { closed, parse, type Static, Type } from "../../protocol/schema.ts";
import { ChainLinks } from "./chain.ts";
import { CheckpointSeries } from "./checkpoint-series.ts";
import { auditVerifier } from "./signer.ts";

/**
 * The header of a copy of a tenant's audit log. A copy is JSON Lines: one header, then entries and checkpoints in ascending order, each checkpoint
 * anywhere after the one before it. Each line has its kind and the fields that the API serves.
 */
const Header = Type.Object(
  {
    kind: Type.Literal("header"),
    format: Type.Literal("assay-audit"),
    version: Type.Literal(1),
    tenant: Type.String({ minLength: 1 }),
    /** Base64 of the SPKI DER. It proves nothing by itself: a forged copy has its own. */
    publicKey: Type.String({ minLength: 1 }),
    /** Keys that signed before that one, newest first; absent where there was one key only. */
    earlierPublicKeys: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
    /** The first entry of the copy; 1 for a whole log. */
    fromSeq: Type.Integer({ minimum: 1 }),
    /** The end of the log when the copy was made, if it was known: it shows that a copy was cut off. */
    head: Type.Optional(Type.Object({ seq: Type.Integer({ minimum: 1 }), hash: Type.String() }, closed)),
  },
  closed,
);
type CopyHeader = Static<typeof Header>;

const EntryLine = Type.Object({ kind: Type.Literal("entry"), ...AuditEntry.properties }, closed);
const CheckpointLine = Type.Object({ kind: Type.Literal("checkpoint"), ...AuditCheckpoint.properties }, closed);

const LINES = { header: Header, entry: EntryLine, checkpoint: CheckpointLine } as const;

type CopyLine =
  | { readonly kind: "header"; readonly header: CopyHeader }
  | { readonly kind: "entry"; readonly entry: AuditEntry }
  | { readonly kind: "checkpoint"; readonly checkpoint: AuditCheckpoint };

export function headerLine(header: Omit<CopyHeader, "kind" | "format" | "version">): string {
  return JSON.stringify({ kind: "header", format: "assay-audit", version: 1, ...header });
}

export function entryLine(entry: AuditEntry): string {
  return JSON.stringify({ kind: "entry", ...entry });
}

export function checkpointLine(checkpoint: AuditCheckpoint): string {
  return JSON.stringify({ kind: "checkpoint", ...checkpoint });
}

/** Throws `unusable_input`, naming the line, for a text that is no line of a copy. */
export function readCopyLine(text: string, lineNumber: number): CopyLine {
  const raw = jsonOf(text, lineNumber);
  const kind = raw !== null && typeof raw === "object" && "kind" in raw ? raw.kind : undefined;
  switch (kind) {
    case "header":
      return { kind, header: shaped(LINES.header, raw, lineNumber) };
    case "entry": {
      const { kind: _, ...entry } = shaped(LINES.entry, raw, lineNumber);
      return { kind, entry };
    }
    case "checkpoint": {
      const { kind: _, ...checkpoint } = shaped(LINES.checkpoint, raw, lineNumber);
      return { kind, checkpoint };
    }
    default:
      throw unusable(lineNumber, "is not a header, an entry or a checkpoint of an audit log");
  }
}

function jsonOf(text: string, lineNumber: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unusable(lineNumber, "is not JSON");
  }
}

function shaped<S extends (typeof LINES)[keyof typeof LINES]>(schema: S, raw: unknown, lineNumber: number): Static<S> {
  try {
    return parse(schema, raw, "");
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw unusable(lineNumber, `is not valid: ${String(error.details["problem"]).trim()}`);
  }
}

function unusable(lineNumber: number, problem: string): AppError {
  return new AppError("unusable_input", { problem: `Line ${lineNumber} ${problem}` });
}

interface AuditCopyResult {
  readonly tenant: string;
  /** The key that the checkpoints were checked with. Compare it with the published one, or give that. */
  readonly publicKey: string;
  readonly fromSeq: number;
  /** The last entry of the copy; `fromSeq - 1` when there is none. */
  readonly toSeq: number;
  readonly chainValid: boolean;
  readonly checkpointsValid: boolean;
  readonly checkpoints: number;
  /** Checkpoints whose first entries are missing, in a copy that begins later than the log. */
  readonly signatureOnly: number;
  /** The last signed entry, 0 without one: later entries are not authenticated. */
  readonly signedThrough: number;
  readonly anomalies: readonly AuditAnomaly[];
}

/** Public keys from another source than the copy; by default those of its header are used. */
interface TrustedKeys {
  readonly publicKey?: string;
  /** Newest first. */
  readonly earlierPublicKeys?: readonly string[];
}

/**
 * Checks a copy of an audit log with the copy alone or, better, with a public key from another source. Only the hashes since the last checkpoint are
 * kept in memory. Throws `unusable_input` for a text that is no such copy.
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
