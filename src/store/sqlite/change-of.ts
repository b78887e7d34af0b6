import type { Change } from "../store.ts";
import type { FlatUnit, Operation, Outcome } from "./operations.ts";
import type { StatementName } from "./statements.ts";

const KEY_WRITES: ReadonlySet<StatementName> = new Set(["putKey", "revokeKey", "putRoles"]);

/** What a batch changed for those who follow runs, wait for work or cache keys; undefined when nothing. */
export function changeOf(operations: readonly Operation[], outcomes: readonly Outcome[]): Change | undefined {
  const runIds = new Set<string>();
  let work = false;
  let keys = false;
  for (const [i, operation] of operations.entries()) {
    const outcome = outcomes[i];
    if (operation.kind !== "unit" || outcome?.kind !== "committed") continue;
    for (const run of operation.unit.runs) if (run.appends) runIds.add(run.runId);
    work ||= outcome.work;
    keys ||= writesKeys(operation.unit);
  }
  return runIds.size > 0 || work || keys ? { runIds: [...runIds], work, keys } : undefined;
}

function writesKeys(unit: FlatUnit): boolean {
  return unit.writes.some(([statement]) => KEY_WRITES.has(statement));
}
