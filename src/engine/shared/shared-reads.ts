import { setImmediate as turn } from "node:timers/promises";

/**
 * Callers that ask for the same thing in one turn of the event loop share one read. It begins after all of them have
 * asked, so each sees whatever was acknowledged before, as if it had read alone; nothing is kept for the next turn.
 *
 * Under load that is one query for many requests: reading the workflow of every new run was a third of the processor
 * time of a create, on either database (docs/performance.md).
 */
export function sharedReads<N extends readonly string[], V>(
  read: (...names: N) => Promise<V>,
): (...names: N) => Promise<V> {
  const gathering = new Map<string, Promise<V>>();
  return (...names) => {
    const key = JSON.stringify(names);
    const joined = gathering.get(key);
    if (joined) return joined;
    const reading = turn().then(() => {
      gathering.delete(key);
      return read(...names);
    });
    gathering.set(key, reading);
    return reading;
  };
}
