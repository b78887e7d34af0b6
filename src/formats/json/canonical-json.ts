/**
 * RFC 8785 canonical JSON: keys sorted by UTF-16 code unit, ECMAScript numbers, no white space. Hashes over JSON are hashes of this text.
 * Throws for values that JSON cannot express (NaN, lone surrogates, functions).
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

/**
 * JSON with sorted names: without blanks for digests, with an indentation for people and comparisons line by line. Lone surrogates are
 * escaped, so unlike the canonical form it exists for every JSON value.
 */
export function sortedJson(value: unknown, indent = ""): string {
  return write(value, indent, indent === "" ? "" : "\n");
}

function write(value: unknown, indent: string, lineBreak: string): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const inner = lineBreak === "" ? "" : lineBreak + indent;
  const isList = Array.isArray(value);
  const items = isList
    ? value.map((item) => write(item, indent, inner))
    : members(value as Readonly<Record<string, unknown>>, indent, inner);
  const [open, close] = isList ? "[]" : "{}";
  return items.length === 0 ? `${open}${close}` : `${open}${inner}${items.join(`,${inner}`)}${lineBreak}${close}`;
}

function members(object: Readonly<Record<string, unknown>>, indent: string, inner: string): string[] {
  const colon = inner === "" ? ":" : ": ";
  return Object.keys(object)
    .sort()
    .filter((name) => object[name] !== undefined)
    .map((name) => `${JSON.stringify(name)}${colon}${write(object[name], indent, inner)}`);
}
