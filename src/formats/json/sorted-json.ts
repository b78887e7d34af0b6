/**
 * JSON with sorted names: without blanks for digests, with an indentation for people and line by line comparisons. Lone surrogates are
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
