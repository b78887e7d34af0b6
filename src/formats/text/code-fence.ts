/**
 * What stands inside the Markdown fence that some models cannot do without; undefined for a text that is not one fence from end to end. It
 * is looked for at both ends and not by a pattern over all of it, so that no text makes it a long search.
 */
export function unfenced(text: string): string | undefined {
  const trimmed = text.trim();
  const begin = trimmed.indexOf("\n");
  const isFenced = begin > 0 && /^```[\w-]*\s*$/.test(trimmed.slice(0, begin)) && trimmed.endsWith("\n```");
  return isFenced ? trimmed.slice(begin + 1, Math.max(begin + 1, trimmed.length - "\n```".length)) : undefined;
}
