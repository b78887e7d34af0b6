/** Every text in a value, and the names of members where they are wanted, in order. Without recursion: others make outputs. */
export function textsOf(value: unknown, { names }: { readonly names: boolean } = { names: true }): string[] {
  const texts: string[] = [];
  const stack: unknown[] = [value];
  while (stack.length > 0) {
    const item = stack.pop();
    if (typeof item === "string") texts.push(item);
    else if (Array.isArray(item)) for (let i = item.length - 1; i >= 0; i--) stack.push(item[i]);
    else if (typeof item === "object" && item !== null) {
      for (const [name, member] of Object.entries(item).reverse()) stack.push(member, ...(names ? [name] : []));
    }
  }
  return texts;
}
