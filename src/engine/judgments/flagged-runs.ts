import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { FlaggedItem, InboxQuery, InboxResponse } from "../../protocol/gates/inbox-api.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import type { Host } from "../host.ts";
import { cursorAt, placeOf } from "./annotation-cursor.ts";
import { blindness, DEFAULT_LIMIT, readPage } from "./list-annotations.ts";

/** The open flags that the caller may see, oldest first: what an inbox shows beside gates when it is asked to. */
export async function readFlagged(
  host: Host,
  caller: Caller,
  { workflowId, runId, limit = DEFAULT_LIMIT, flaggedCursor }: Omit<InboxQuery, "flagged">,
): Promise<Pick<InboxResponse, "flagged" | "nextFlaggedCursor">> {
  if (!host.capabilities.has("feedback")) throw new AppError("capability_not_provided", { capability: "feedback" });
  const after = flaggedCursor === undefined ? undefined : placeOf(flaggedCursor);
  const asked = {
    order: "oldest",
    flag: "open",
    kind: "flag",
    ...defined({ workflowId, runId }),
    ...blindness(caller),
  } as const;
  const { records, next } = await readPage(host, caller, asked, limit, after);
  return { flagged: records.map(flaggedItem), ...(next === undefined ? {} : { nextFlaggedCursor: cursorAt(next) }) };
}

function flaggedItem({ annotationId, runId, workflowId, aboutNode, ...record }: AnnotationRecord): FlaggedItem {
  const { actor, actorKind, note, createdAtMs } = record;
  return {
    annotationId,
    runId,
    workflowId,
    ...defined({ nodeId: aboutNode }),
    actor,
    actorKind,
    ...defined({ note }),
    createdAt: new Date(createdAtMs).toISOString(),
  };
}
