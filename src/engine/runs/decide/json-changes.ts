import { own } from "../../../protocol/own.ts";
import { deepEqual } from "../../schemas/decide/deep-equal.ts";

/** One place where two JSON values differ. `path` is a JSON Pointer. */
export interface JsonChange {
  readonly path: string;
  readonly change: "added" | "removed" | "changed";
  readonly before?: unknown;
  readonly after?: unknown;
}

/** Changes that a gate shows at most. */
const CHANGES_MAX = 100;

/** The differences within objects and lists, in the order of the new value, up to the limit. */
export function changesBetween(before: unknown, after: unknown): JsonChange[] {
  const changes: JsonChange[] = [];
  collect("", before, after, changes);
  return changes;
}

function collect(path: string, before: unknown, after: unknown, changes: JsonChange[]): void {
  if (changes.length >= CHANGES_MAX || deepEqual(before, after)) return;
  if (before === undefined) changes.push({ path, change: "added", after });
  else if (after === undefined) changes.push({ path, change: "removed", before });
  else if (isBranch(before) && isBranch(after) && Array.isArray(before) === Array.isArray(after)) {
    const keys = new Set([...Object.keys(after), ...Object.keys(before)]);
    for (const key of keys) collect(`${path}/${escaped(key)}`, own(before, key), own(after, key), changes);
  } else changes.push({ path, change: "changed", before, after });
}

function isBranch(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
