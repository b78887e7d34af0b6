/**
 * RFC 8785 canonical JSON: keys sorted by UTF-16 code unit, ECMAScript numbers, no white space. Hashes over JSON
 * are taken over these characters. Refuses what JSON cannot say (NaN, lone surrogates, functions).
 */
export function canonicalJson(value: unknown): string {
  if (value === null) return "null";
  switch (typeof value) {
    case "string":
      return canonicalString(value);
    case "number":
      if (!Number.isFinite(value)) throw new TypeError("a number that is not finite has no JSON form");
      return JSON.stringify(value);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      return Array.isArray(value) ? canonicalArray(value) : canonicalObject(value as Record<string, unknown>);
    default:
      throw new TypeError(`${typeof value} has no JSON form`);
  }
}

function canonicalArray(values: readonly unknown[]): string {
  let text = "[";
  for (let i = 0; i < values.length; i++) {
    if (i > 0) text += ",";
    text += canonicalJson(values[i]);
  }
  return `${text}]`;
}

function canonicalObject(object: Readonly<Record<string, unknown>>): string {
  let text = "{";
  for (const key of Object.keys(object).sort()) {
    const value = object[key];
    if (value === undefined) continue;
    if (text.length > 1) text += ",";
    text += `${canonicalString(key)}:${canonicalJson(value)}`;
  }
  return `${text}}`;
}

function canonicalString(text: string): string {
  if (!text.isWellFormed()) throw new TypeError("a string with a lone surrogate has no canonical form");
  return JSON.stringify(text);
}
