import { AFP_SESSION_NAMES } from "../../protocol/reviews/afp.ts";

const SESSION_LIKE: ReadonlySet<string> = new Set(AFP_SESSION_NAMES);

/** Sessions belong to whatever carries the messages; a payload that names one, under any spelling, is wrong. */
export function isSessionLike(name: string): boolean {
  const bare = name
    .toLowerCase()
    .replace(/^x-/, "")
    .replace(/[-_.\s]/g, "");
  return SESSION_LIKE.has(bare);
}

/** A name that nobody knows and that is not marked as an extension. */
export function isUnknown(name: string, known: readonly string[]): boolean {
  return !known.includes(name) && !name.startsWith("x-") && !isSessionLike(name);
}

export type Members = Readonly<Record<string, unknown>>;

export function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What an object has under its own name, whatever its prototype has. */
export function own(members: Members, name: string): unknown {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}

export function has(members: Members, name: string): boolean {
  return Object.hasOwn(members, name);
}
