import { setImmediate } from "node:timers/promises";
import { entryHash } from "../../formats/audit/audit-entry-hash.ts";
import type { AuditAnomaly, AuditEntry } from "../../protocol/audit/audit.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Audit } from "../../store/port/store.ts";

/** Anomalies that are reported at most: a completely rewritten log must not make a response of its size. */
const ANOMALIES_MAX = 1000;

/** The texts of an anomaly without a hash: before the first entry, for an unknown hash, and for a missing or unreadable entry. */
const GENESIS = "null";
const UNKNOWN = "unknown";
const NOTHING = "";

/**
 * Follows a chain from entry to entry, computing each hash from content. An anomaly is at the entry that does not have the hash of the one before
 * it, so a changed entry shows at its successor; a missing entry shows at its own sequence.
 */
export class ChainLinks {
  readonly anomalies: AuditAnomaly[] = [];
  #nextSeq: number;
  /** The hash of the entry before: null before the first, undefined where it is unknown. */
  #hash: string | null | undefined;

  constructor(firstSeq: number, hashBefore: string | null | undefined) {
    this.#nextSeq = firstSeq;
    this.#hash = hashBefore;
  }

  /** Takes the next entry and returns its hash; undefined where its content has none. */
  take(entry: AuditEntry): string | undefined {
    const { atSequence, prevHash } = entry;
    this.expectThrough(atSequence - 1);
    const repeated = atSequence < this.#nextSeq;
    const isBroken = this.#hash !== undefined && prevHash !== this.#hash;
    if (repeated || isBroken) this.#report(atSequence, prevHash ?? NOTHING);
    if (repeated) return undefined;
    const hash = hashOf(entry);
    if (hash === undefined) this.#report(atSequence, NOTHING);
    this.#moveTo(atSequence, hash);
    return hash;
  }

  /** Takes an entry that cannot be read. */
  takeUnreadable(atSequence: number): undefined {
    this.expectThrough(atSequence - 1);
    this.#report(atSequence, NOTHING);
    this.#moveTo(atSequence, undefined);
  }

  /** Reports the entries that are missing up to this one as one anomaly, at the first of them. */
  expectThrough(seq: number): void {
    if (this.#nextSeq > seq) return;
    this.#report(this.#nextSeq, NOTHING);
    this.#moveTo(seq, undefined);
  }

  #moveTo(seq: number, hash: string | undefined): void {
    this.#nextSeq = seq + 1;
    this.#hash = hash;
  }

  #report(atSeq: number, actualPrevHash: string): void {
    const expectedPrevHash = this.#hash === undefined ? UNKNOWN : (this.#hash ?? GENESIS);
    if (this.anomalies.length < ANOMALIES_MAX) this.anomalies.push({ atSeq, expectedPrevHash, actualPrevHash });
  }
}

/** The hash of an entry. Only content that was written by hand has no canonical form. */
function hashOf(entry: AuditEntry): string | undefined {
  try {
    return entryHash(entry);
  } catch {
    return undefined;
  }
}

/** An entry, or the sequence of one that cannot be read. */
type ChainItem = AuditEntry | { readonly atSequence: number; readonly unreadable: true };

/** Some milliseconds of work. */
const PAGE = 200;

/** The existing entries from `fromSeq` through `toSeq`, in order, page by page, with a turn of the event loop between pages for requests. */
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
    return { items, next: last === undefined ? undefined : last.atSequence + 1 };
  } catch (error) {
    if (error instanceof AppError) throw error;
    // An entry of the page is not JSON: the entries are read one by one to find it.
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
