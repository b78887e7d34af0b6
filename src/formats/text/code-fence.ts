/**
 * The content of the Markdown fence that some models add; undefined for a text that is not one fence from end to end. Only
 * both ends are compared, without a pattern over the whole text, so that no text makes it slow.
 */
export function unfenced(text: string): string | undefined {
  const trimmed = text.trim();
  const begin = trimmed.indexOf("\n");
  const isFenced = begin > 0 && /^```[\w-]*\s*$/.test(trimmed.slice(0, begin)) && trimmed.endsWith("\n```");
  return isFenced ? trimmed.slice(begin + 1, Math.max(begin + 1, trimmed.length - "\n```".length)) : undefined;
}
