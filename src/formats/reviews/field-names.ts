import { AFP_SESSION_NAMES } from "../../protocol/reviews/afp.ts";

const SESSION_LIKE: ReadonlySet<string> = new Set(AFP_SESSION_NAMES);

/** Sessions belong to the transport; a payload that names one, under any spelling, is invalid. */
export function isSessionLike(name: string): boolean {
  const bare = name
    .toLowerCase()
    .replace(/^x-/, "")
    .replace(/[-_.\s]/g, "");
  return SESSION_LIKE.has(bare);
}

/** An unknown name that is not marked as an extension. */
export function isUnknown(name: string, known: readonly string[]): boolean {
  return !known.includes(name) && !name.startsWith("x-") && !isSessionLike(name);
}

export type Members = Readonly<Record<string, unknown>>;

export function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An own member of an object; inherited ones do not count. */
export function own(members: Members, name: string): unknown {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}

export function has(members: Members, name: string): boolean {
  return Object.hasOwn(members, name);
}
