import { REQUEST_EXAMPLES } from "../../src/http/documents/openapi-examples.ts";
import { fillPath } from "../../src/http/pipeline/read-url.ts";
import type { Operation } from "../../src/protocol/operation.ts";
import { OPERATIONS, type OperationId } from "../../src/protocol/operations.ts";
import type { Furniture } from "./furnish.ts";

export type Named = readonly [OperationId, Operation];

/** Every operation that a host without conformance seams serves. */
export const SERVED: readonly Named[] = (Object.entries(OPERATIONS) as [OperationId, Operation][]).filter(
  ([, { capability }]) => capability !== "conformanceSeams",
);

/** Routes of which the path itself is the credential. */
export function isCredential([, { path }]: Named): boolean {
  return path.includes("{token}");
}

/** Streams stay open; `timeout=1` and `limit` keep polls short. */
export function pathOf([id, { path }]: Named, furniture: Furniture): string {
  const search = id === "verifyAudit" ? "?fromSeq=0&toSeq=9" : id === "pollEvents" ? "?timeout=1" : "";
  return fillPath(path, furniture) + search;
}

export function exampleOf([id, { body, method }]: Named): unknown {
  if (method === "GET") return undefined;
  return REQUEST_EXAMPLES[id] ?? (body === undefined ? undefined : { principal: "p", action: "x" });
}
