import type { Refusal } from "../port/store.ts";
import type { QueueCheck } from "./operations.ts";
import type { Statements } from "./statements.ts";

/** Whether queues and items are as the unit takes them to be. */
export function checkQueues(
  tenant: string,
  checks: readonly QueueCheck[],
  statements: Statements,
): Refusal | undefined {
  for (const check of checks) {
    const refusal = checkQueue(tenant, check, statements);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

interface Head {
  readonly tenant: string;
  readonly revision: number;
}

function checkQueue(tenant: string, check: QueueCheck, statements: Statements): Refusal | undefined {
  switch (check.type) {
    case "there": {
      const head = statements.queueHead.get(check.queueId) as Head | undefined;
      return head?.tenant === tenant ? undefined : { type: "queue", id: check.queueId, revision: 0 };
    }
    case "queue": {
      const head = statements.queueHead.get(check.queueId) as Head | undefined;
      const moved = checkRevision(tenant, check.queueId, check.revision, head);
      if (moved !== undefined) return moved;
      const found = statements.queueByName.get(tenant, check.workspace, check.name);
      const named = found as { queue_id: string; revision: number } | undefined;
      if (named === undefined || named.queue_id === check.queueId) return undefined;
      return { type: "queue", id: named.queue_id, revision: named.revision };
    }
    case "item": {
      const found = statements.itemHead.get(check.itemId) as (Head & { queue_id: string }) | undefined;
      const head = found !== undefined && found.queue_id !== check.queueId ? { ...found, tenant: "" } : found;
      const moved = checkRevision(tenant, check.itemId, check.revision, head);
      if (moved !== undefined || check.revision > 1) return moved;
      const run = statements.runHead.get(check.runId) as { tenant: string } | undefined;
      if (run?.tenant !== tenant) return { type: "version", runId: check.runId, version: 0 };
      const other = statements.itemBySubject.get(check.queueId, check.subject);
      const taken = other as { item_id: string; revision: number } | undefined;
      return taken && { type: "queue", id: taken.item_id, revision: taken.revision };
    }
  }
}

/** What another tenant has does not exist for this one, and its id is not to be had either. */
function checkRevision(tenant: string, id: string, revision: number, head: Head | undefined): Refusal | undefined {
  const foreign = head !== undefined && head.tenant !== tenant;
  const standing = head === undefined || foreign ? 0 : head.revision;
  return standing === revision - 1 && !foreign ? undefined : { type: "queue", id, revision: standing };
}
