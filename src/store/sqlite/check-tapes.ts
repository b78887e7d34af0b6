import type { Refusal } from "../port/store.ts";
import type { TapeCheck } from "./operations.ts";
import type { Statements } from "./statements.ts";

/** Whether a tape is new, and a sidecar as the unit takes it to be. */
export function checkTapes(tenant: string, checks: readonly TapeCheck[], statements: Statements): Refusal | undefined {
  for (const check of checks) {
    const refusal =
      check.type === "import" ? checkImport(tenant, check, statements) : checkSidecar(tenant, check, statements);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

type Check<T extends TapeCheck["type"]> = Extract<TapeCheck, { type: T }>;

function checkImport(tenant: string, check: Check<"import">, statements: Statements): Refusal | undefined {
  const found = statements.tapeByDigest.get(tenant, check.digest, check.workspace) as { run_id: string } | undefined;
  return found && { type: "tape", runId: found.run_id };
}

function checkSidecar(tenant: string, check: Check<"sidecar">, statements: Statements): Refusal | undefined {
  const { runId, revision } = check;
  const run = statements.runTenant.get(runId) as { tenant: string } | undefined;
  if (run?.tenant !== tenant) return { type: "version", runId, version: 0 };
  const head = statements.sidecarHead.get(runId) as { revision: number } | undefined;
  return (head?.revision ?? 0) === revision - 1 ? undefined : { type: "tape", runId };
}
