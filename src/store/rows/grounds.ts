import type { Unit } from "../port/store.ts";

/** Throws when nothing would keep judgments from being written at the same time, which is a mistake of the caller. */
export function requireChain({ grounds = [], audit = [] }: Pick<Unit, "grounds" | "audit">): void {
  if (grounds.length > 0 && audit.length === 0) throw new Error("a unit that rests on something has audit entries");
}
