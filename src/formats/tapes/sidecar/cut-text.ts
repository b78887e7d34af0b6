const MORE = " …";

/** At most so many characters, never half of one; what was cut ends in dots. Characters that no database takes are replaced. */
export function cutText(text: string, max: number): string {
  const storable = text.replaceAll("\0", "\ufffd");
  if (storable.length <= max) return storable;
  const cut = storable.slice(0, max - MORE.length);
  return (cut.isWellFormed() ? cut : cut.slice(0, -1)) + MORE;
}
