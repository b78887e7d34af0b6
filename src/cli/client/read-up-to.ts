const PAGE_MAX = 200;

interface Listed<Item> {
  readonly items: Item[];
  readonly nextCursor?: string;
}

/** The first `limit` items of a list, in as many pages as that takes, and where it goes on. A page of the server may be short. */
export async function readUpTo<Item>(
  limit: number,
  read: (page: { readonly limit: number; readonly cursor: string | undefined }) => PromiseLike<Listed<Item>>,
): Promise<Listed<Item>> {
  const items: Item[] = [];
  let cursor: string | undefined;
  do {
    const page: Listed<Item> = await read({ limit: Math.min(limit - items.length, PAGE_MAX), cursor });
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== undefined && items.length < limit);
  return cursor === undefined ? { items } : { items, nextCursor: cursor };
}
