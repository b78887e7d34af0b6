import { closestTo } from "../../protocol/closest-to.ts";

export interface KnownRemarks {
  /** Ids of the last answer, in the order in which they are shown with numbers from 1. */
  readonly shown: readonly string[];
  /** Ids of every remark of the review. */
  readonly all: readonly string[];
}

/**
 * The id of a remark by its id, its number in the last answer, or a unique prefix of its id. Remarks of the last answer come
 * before earlier ones.
 */
export function namedRemark(named: string, { shown, all }: KnownRemarks): { id: string } | { problem: string } {
  if (all.includes(named)) return { id: named };
  const numbered = /^[1-9]\d{0,5}$/.test(named) ? shown[Number(named) - 1] : undefined;
  if (numbered !== undefined) return { id: numbered };
  const alike = beginningWith(named, shown);
  const found = alike.length > 0 ? alike : beginningWith(named, all);
  const [id] = found;
  if (id === undefined) return { problem: unknown(named, { shown, all }) };
  return found.length === 1 ? { id } : { problem: `${named} could be ${found.join(" or ")}; type more of it` };
}

function beginningWith(named: string, ids: readonly string[]): string[] {
  return named === "" ? [] : ids.filter((id) => id.startsWith(named));
}

function unknown(named: string, { shown, all }: KnownRemarks): string {
  const nearest = closestTo(named, all);
  const numbers = shown.length === 0 ? "" : `, or by its number, 1 to ${shown.length}`;
  const meant = nearest === undefined ? "" : `. Did you mean ${nearest}?`;
  return `no remark of this review is called ${named}; name it by its id or the beginning of it${numbers}${meant}`;
}
