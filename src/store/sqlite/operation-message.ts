import type { Operation, Write } from "./operations.ts";

/** How operations travel between threads. */
export type OperationMessage = Operation | string;

/**
 * Copying an object to another thread costs per value in it; one text costs hardly more than its bytes. So what is many
 * short values goes as JSON. Runs and review sessions do not: what they hold is long texts already, which JSON would write again.
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
