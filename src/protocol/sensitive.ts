import { MASK } from "./events.ts";

/**
 * Masks by value: wherever a sensitive value turns up inside `value` it is replaced, whatever path it took there.
 * Numbers, booleans and texts under four characters are masked by name only; by value they would hide too much.
 */
export function maskValues<T>(value: T, secrets: readonly unknown[]): T {
  const texts = new Set<string>();
  for (const secret of secrets) collect(secret, texts);
  return texts.size === 0 ? value : (mask(value, texts) as T);
}

const SHORTEST = 4;

function collect(secret: unknown, texts: Set<string>): void {
  if (typeof secret === "string" && secret.length >= SHORTEST) texts.add(secret);
  else if (typeof secret === "object" && secret !== null)
    for (const item of Object.values(secret)) collect(item, texts);
}

function mask(value: unknown, texts: ReadonlySet<string>): unknown {
  if (typeof value === "string") {
    let shown = value;
    for (const text of texts) if (shown.includes(text)) shown = shown.replaceAll(text, MASK);
    return shown;
  }
  if (Array.isArray(value)) return value.map((item) => mask(item, texts));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mask(item, texts)]));
  }
  return value;
}

/** The values the named variables have now. */
export function sensitiveValues(variables: Readonly<Record<string, unknown>>, names: ReadonlySet<string>): unknown[] {
  return [...names].map((name) => variables[name]).filter((value) => value !== undefined && value !== MASK);
}
