import { createHash } from "node:crypto";

/** The fingerprint of a JSON value with sorted names and no blanks: the same request in another notation has the same one. */
export function fingerprintOf(value: unknown): string {
  return createHash("sha256").update(sortedJson(value)).digest("hex");
}

/** Unlike canonical JSON it takes every text: half a surrogate pair in an artifact is the artifact's business. */
function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(members).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${sortedJson(members[name])}`).join(",")}}`;
}
