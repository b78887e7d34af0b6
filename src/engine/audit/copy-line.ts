import { AuditCheckpoint, AuditEntry } from "../../protocol/audit/audit.ts";
import { AppError } from "../../protocol/errors.ts";
import { closed, parse, type Static, Type } from "../../protocol/schema.ts";

/**
 * A copy of a tenant's audit log is JSON Lines: one header, then entries and checkpoints in ascending order, each
 * checkpoint anywhere after the one before it. Every line says its kind beside the fields that the API serves.
 */

const Header = Type.Object(
  {
    kind: Type.Literal("header"),
    format: Type.Literal("assay-audit"),
    version: Type.Literal(1),
    tenant: Type.String({ minLength: 1 }),
    /** Base64 of the SPKI DER. It proves nothing by itself: whoever forges a copy writes his own. */
    publicKey: Type.String({ minLength: 1 }),
    /** Keys that signed before that one, newest first; absent where there was one key only. */
    earlierPublicKeys: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
    /** The first entry of the copy; 1 for a whole log. */
    fromSeq: Type.Integer({ minimum: 1 }),
    /** The end of the log when the copy was made, if it was known: then a copy cut short is noticed. */
    head: Type.Optional(Type.Object({ seq: Type.Integer({ minimum: 1 }), hash: Type.String() }, closed)),
  },
  closed,
);
export type CopyHeader = Static<typeof Header>;

const EntryLine = Type.Object({ kind: Type.Literal("entry"), ...AuditEntry.properties }, closed);
const CheckpointLine = Type.Object({ kind: Type.Literal("checkpoint"), ...AuditCheckpoint.properties }, closed);

const LINES = { header: Header, entry: EntryLine, checkpoint: CheckpointLine } as const;

export type CopyLine =
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
    throw unusable(lineNumber, `is not as it should be: ${String(error.details["problem"]).trim()}`);
  }
}

export function unusable(lineNumber: number, problem: string): AppError {
  return new AppError("unusable_input", { problem: `Line ${lineNumber} ${problem}` });
}
