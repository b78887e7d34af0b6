import type { AnnotationChangeKind } from "../port/judgments.ts";
import type { CancelledFamily, Claim, Refusal } from "../port/store.ts";
import type { Topics } from "../units/prepare-unit.ts";
import type { UnitChecks } from "../units/unit-checks.ts";
import type { SqliteValue } from "./open-database.ts";
import type { StatementName } from "./statements.ts";

/**
 * What the main thread asks of the writer. Everything is flat, texts are serialised once by the caller's thread, and
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
  /** What happened to annotations; their places follow from those of the audit entries. */
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
