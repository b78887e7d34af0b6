import { setImmediate as nextTurn } from "node:timers/promises";
import { defined } from "../../protocol/defined.ts";

export interface Period {
  readonly fromMs?: number;
  readonly toMs?: number;
}

/**
 * A period in parts: SQLite runs statements in this process, and a statement about few rows does not block other work for long.
 * `endOf` finds where a part has enough rows, which is undefined for the last part.
 */
export async function* inParts(
  { fromMs, toMs }: Period,
  endOf: (rest: Period) => Promise<number | undefined>,
): AsyncGenerator<Period> {
  for (let rest: Period = defined({ fromMs, toMs }); ; await nextTurn()) {
    const endMs = await endOf(rest);
    if (endMs === undefined || (toMs !== undefined && endMs >= toMs)) return yield rest;
    yield { ...rest, toMs: endMs };
    rest = { ...rest, fromMs: endMs };
  }
}

export const DAY_MS = 86_400_000;

export function isoDate(days: number): string {
  return new Date(days * DAY_MS).toISOString().slice(0, "2027-03-01".length);
}
