import { perObject } from "../../protocol/per-object.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { Store } from "../../store/port/store.ts";

/** The members of a run that name its family. */
export interface Relative extends Pick<Run, "runId"> {
  readonly parent?: Pick<NonNullable<Run["parent"]>, "rootRunId">;
}

const queuesOf = perObject((_store: object) => new Map<string, Promise<void>>());

/**
 * Runs conflicting changes of one family of runs one after the other, in this process: of many at once only one would be committed, and all
 * others would be decided again in vain. Correctness does not depend on it: each change is committed at the version it was decided at.
 */
export function serialize<T>(store: Store, run: Relative, work: () => Promise<T>): Promise<T> {
  return serializeFor(store, familyOf(run), work);
}

/** The same for any other work with a key. */
export async function serializeFor<T>(store: object, key: string, work: () => Promise<T>): Promise<T> {
  const queues = queuesOf(store);
  const result = (queues.get(key) ?? Promise.resolve()).then(work);
  const end = result.then(
    () => {},
    () => {},
  );
  queues.set(key, end);
  void end.then(() => {
    if (queues.get(key) === end) queues.delete(key);
  });
  return result;
}

/** Whether changes of the family are queued: a change that did not wait would conflict with them. */
export function isSerializing(store: Store, run: Relative): boolean {
  return queuesOf(store).has(familyOf(run));
}

function familyOf({ runId, parent }: Relative): string {
  return parent?.rootRunId ?? runId;
}
