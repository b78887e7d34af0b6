/** An artifact as a model sees it and quotes from it. Nothing at all is the same in every form. */
export function artifactText(content: unknown): string {
  if (typeof content === "string") return content;
  const isEmpty = content === null || (typeof content === "object" && Object.keys(content).length === 0);
  return isEmpty ? "" : JSON.stringify(content, null, 2);
}
