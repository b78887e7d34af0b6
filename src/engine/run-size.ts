/** In characters of JSON. Every commit writes the whole run, and what one turn adds is one transaction. */
export const LARGEST_RUN = 64_000_000;

/** About how many characters of JSON a value makes. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  let size = 8;
  for (const [key, item] of Object.entries(value)) size += key.length + 4 + sizeOf(item);
  return size;
}
