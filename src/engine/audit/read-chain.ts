import { setImmediate } from "node:timers/promises";
import type { AuditEntry } from "../../protocol/audit/audit.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Audit } from "../../store/port/store.ts";

/** An entry, or only its place when what is stored there can no longer be read as one. */
type ChainItem = AuditEntry | { readonly atSequence: number; readonly unreadable: true };

/** Some milliseconds of work. */
const PAGE = 200;

/**
 * The entries from `fromSeq` through `toSeq` that exist, in order, page by page. Gives way to the event loop between
 * pages: a million entries must not hold up requests.
 */
export async function* readChain(
  store: Pick<Audit, "readAudit">,
  tenant: string,
  fromSeq: number,
  toSeq: number,
): AsyncGenerator<readonly ChainItem[]> {
  let from = fromSeq;
  while (from <= toSeq) {
    const page = await readPage(store, tenant, from, toSeq);
    yield page.items;
    if (page.next === undefined) return;
    from = page.next;
    await setImmediate();
  }
}

type Page = { readonly items: readonly ChainItem[]; readonly next: number | undefined };

async function readPage(store: Pick<Audit, "readAudit">, tenant: string, from: number, to: number): Promise<Page> {
  try {
    const items = await store.readAudit(tenant, from, to, PAGE);
    const last = items.at(-1);
    return { items, next: items.length < PAGE || last === undefined ? undefined : last.atSequence + 1 };
  } catch (error) {
    if (error instanceof AppError) throw error;
    // A hand in the database left something that is not JSON; one by one, to find out where.
    return readOneByOne(store, tenant, from, Math.min(to, from + PAGE - 1));
  }
}

async function readOneByOne(store: Pick<Audit, "readAudit">, tenant: string, from: number, to: number): Promise<Page> {
  const items: ChainItem[] = [];
  for (let seq = from; seq <= to; seq++) {
    try {
      items.push(...(await store.readAudit(tenant, seq, seq, 1)));
    } catch (error) {
      if (error instanceof AppError) throw error;
      items.push({ atSequence: seq, unreadable: true });
    }
  }
  return { items, next: to + 1 };
}

export function isUnreadable(item: ChainItem): item is Extract<ChainItem, { unreadable: true }> {
  return "unreadable" in item;
}
