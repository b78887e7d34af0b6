import type { AnnotationChangeKind } from "../port/judgments.ts";
import type { CancelledFamily, Claim, Refusal } from "../port/store.ts";
import type { Topics } from "../units/prepare-unit.ts";
import type { UnitChecks } from "../units/unit-checks.ts";
import type { SqliteValue } from "./open-database.ts";
import type { StatementName } from "./statements.ts";

/**
 * A request of the main thread to the writer. Everything is flat, texts are serialised once by the caller's thread, and
 * the writer binds them as they are: copying between threads costs per object, hardly per byte.
 */
export type Operation =
  | { readonly kind: "unit"; readonly unit: FlatUnit }
  | { readonly kind: "statement"; readonly sql: string; readonly parameters: SqliteValue[] }
  /** The rest happens only if the first changed a row; the outcome says whether it did. */
  | { readonly kind: "guarded"; readonly first: Write; readonly rest: readonly Write[] }
  | { readonly kind: "claim"; readonly claim: Claim }
  | { readonly kind: "renew"; readonly owner: string; readonly runIds: readonly string[]; readonly untilMs: number };

/** A unit taken apart: what must hold, then what is written. */
export interface FlatUnit {
  readonly checks: UnitChecks;
  readonly cancelledFamilies: readonly CancelledFamily[];
  readonly writes: readonly Write[];
  /** JSON text of the drafts; their places in the chain are known only to the writer. */
  readonly audit?: string;
  /** The changes of annotations; their places follow from those of the audit entries. */
  readonly history: readonly (readonly [annotationId: string, change: AnnotationChangeKind])[];
  readonly topics: Topics;
}

export type Write = readonly [statement: StatementName, values: readonly SqliteValue[]];

/** One for each operation, in order. */
export type Outcome =
  | { readonly kind: "committed"; readonly work: boolean }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  | { readonly kind: "rows"; readonly rows: unknown[]; readonly changes: number }
  /** Errors lose their class between threads. `databaseError` is the database's fault, otherwise it is ours. */
  | { readonly kind: "failed"; readonly databaseError: boolean; readonly message: string };

/** An operation as it is sent between threads. */
export type OperationMessage = Operation | string;

/**
 * Copying an object to another thread costs per value in it; one text costs hardly more than its bytes. So many
 * short values are sent as JSON. Runs and review sessions are not: they hold long texts, which JSON would write again.
 */
export function toMessage(operation: Operation): OperationMessage {
  if (operation.kind !== "unit") return operation;
  const { checks, writes } = operation.unit;
  const asJson = checks.runs.length === 0 && !writes.some(([statement]) => LONG.has(statement));
  return asJson ? JSON.stringify(operation) : operation;
}

const LONG: ReadonlySet<string> = new Set(["putArtifact", "putReview"]);

/** Writes of the operation at `index` of the batch that follows, sent ahead of it. */
export interface WritesAhead {
  readonly index: number;
  readonly writes: readonly Write[];
}

/** So many writes are copied to the other thread at once; copying those of a long tape in one go would hold up every request. */
const WRITES_AT_ONCE = 2000;

/** The writes of units that have very many, in pieces, and the operations without them. */
export function splitWrites(operations: readonly Operation[]): {
  readonly parts: readonly WritesAhead[];
  readonly rest: readonly Operation[];
} {
  const parts: WritesAhead[] = [];
  const rest = operations.map((operation, index) => {
    if (operation.kind !== "unit" || operation.unit.writes.length <= WRITES_AT_ONCE) return operation;
    const { writes } = operation.unit;
    for (let from = 0; from < writes.length; from += WRITES_AT_ONCE) {
      parts.push({ index, writes: writes.slice(from, from + WRITES_AT_ONCE) });
    }
    return { ...operation, unit: { ...operation.unit, writes: [] } };
  });
  return { parts, rest };
}

/** The operations with the writes that were sent ahead of them. */
export function joinWrites(operations: readonly Operation[], parts: readonly WritesAhead[]): readonly Operation[] {
  if (parts.length === 0) return operations;
  return operations.map((operation, index) => {
    const writes = parts.filter((part) => part.index === index).flatMap((part) => part.writes);
    return operation.kind !== "unit" || writes.length === 0
      ? operation
      : { ...operation, unit: { ...operation.unit, writes } };
  });
}

export function fromMessage(message: OperationMessage): Operation {
  return typeof message === "string" ? (JSON.parse(message) as Operation) : message;
}
