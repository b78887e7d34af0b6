/**
 * The column `started_by` of an interrupt: one name as it is, several as a JSON array. A name that begins like an array
 * is written as one.
 */
export function startersText(starters: readonly string[]): string | null {
  const [first, ...others] = starters;
  if (first === undefined) return null;
  return others.length === 0 && !first.startsWith("[") ? first : JSON.stringify(starters);
}

/** Rows of earlier versions hold one name, however it begins. */
export function startersIn(text: string | null): readonly string[] {
  if (text === null) return [];
  return (text.startsWith("[") ? namesIn(text) : undefined) ?? [text];
}

function namesIn(text: string): string[] | undefined {
  try {
    const names: unknown = JSON.parse(text);
    return Array.isArray(names) && names.every((one) => typeof one === "string") ? names : undefined;
  } catch {
    return undefined;
  }
}
