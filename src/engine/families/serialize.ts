import type { Run } from "../../protocol/runs/run.ts";
import type { Store } from "../../store/port/store.ts";

/** The members of a run that name its family. */
export interface Relative extends Pick<Run, "runId"> {
  readonly parent?: Pick<NonNullable<Run["parent"]>, "rootRunId">;
}

const LINES = new WeakMap<Store, Map<string, Promise<void>>>();

/**
 * Changes of one family of runs that got in each other's way take turns, in this process: when many meet, one would win
 * at a time and all others decide again for nothing. What makes a change safe is the version it is committed at, here
 * and between processes; this only keeps it from being tried in vain.
 */
export function serialize<T>(store: Store, run: Relative, work: () => Promise<T>): Promise<T> {
  return serializeFor(store, familyOf(run), work);
}

/** The same for changes of anything else that has an id. */
export async function serializeFor<T>(store: Store, key: string, work: () => Promise<T>): Promise<T> {
  const lines = LINES.get(store) ?? new Map<string, Promise<void>>();
  LINES.set(store, lines);
  const result = (lines.get(key) ?? Promise.resolve()).then(work);
  const end = result.then(
    () => {},
    () => {},
  );
  lines.set(key, end);
  void end.then(() => {
    if (lines.get(key) === end) lines.delete(key);
  });
  return result;
}

/** Whether others are in line: whoever did not wait would get in their way. */
export function isSerializing(store: Store, run: Relative): boolean {
  return LINES.get(store)?.has(familyOf(run)) ?? false;
}

function familyOf({ runId, parent }: Relative): string {
  return parent?.rootRunId ?? runId;
}
