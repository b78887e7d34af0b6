import type { Operation } from "./operations.ts";

/** How operations travel between threads. */
export type OperationMessage = Operation | string;

/**
 * Copying an object to another thread costs per value in it; one text costs hardly more than its bytes. So what is many
 * short values goes as JSON. Runs and review sessions do not: what they hold is long texts already, which JSON would write again.
 */
export function toMessage(operation: Operation): OperationMessage {
  if (operation.kind !== "unit") return operation;
  const { runs, writes } = operation.unit;
  const asJson = runs.length === 0 && !writes.some(([statement]) => LONG.has(statement));
  return asJson ? JSON.stringify(operation) : operation;
}

const LONG: ReadonlySet<string> = new Set(["putArtifact", "putReview"]);

export function fromMessage(message: OperationMessage): Operation {
  return typeof message === "string" ? (JSON.parse(message) as Operation) : message;
}
