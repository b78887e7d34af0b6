// In place of dist/cli/server/database.js. Keys, workflows and the like are kept in memory; writing a run or a judgment resolves at
// once and leaves nothing behind but a run that waits for somebody, and looking up a workflow or what a principal is costs nothing
// after the first time.
// Not type-checked: it imports the build, which a checkout may not have yet.
import { openSqliteStore } from "../dist/store/sqlite/sqlite-store.js";

export * from "../dist/cli/server/database.js";

const done = Promise.resolve({ ok: true });
const nothing = Promise.resolve(undefined);

/** Hides the one that is exported above. */
export async function openStore() {
  const store = await openSqliteStore({ path: ":memory:" });
  const workflows = new Map();
  const waiting = new Map();
  const memberships = new Map();
  return {
    ...store,
    commit: (unit) => {
      if (unit.annotations !== undefined) return done;
      if (unit.runs === undefined) return store.commit(unit);
      for (const { runId, run } of unit.runs) {
        if (run.status.startsWith("waiting-")) waiting.set(runId, run);
        else if (waiting.size > 0) waiting.delete(runId);
      }
      return done;
    },
    readRun: async (_visible, runId) => waiting.get(runId),
    membershipOf: async (place, principal) => {
      const found = memberships.get(principal) ?? (await store.membershipOf(place, principal));
      memberships.set(principal, found);
      return found;
    },
    readWorkflowHash: async (tenant, workflowId) => {
      const found = workflows.get(workflowId) ?? (await store.readWorkflowHash(tenant, workflowId));
      if (found !== undefined) workflows.set(workflowId, found);
      return found;
    },
    nextWakeAtMs: () => nothing,
  };
}
