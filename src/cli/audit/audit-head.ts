import type { Client } from "../client/client.ts";

/** A page of the chain. */
export function readAuditPage(client: Client, fromSeq: number, limit: number) {
  return client.audit.entries({ fromSeq, limit });
}
export type AuditPage = Awaited<ReturnType<typeof readAuditPage>>;

/**
 * The sequence of the last entry, 0 when there is none. Doubling, then halving: twenty questions for a million
 * entries, where reading them all would be a thousand pages.
 */
export async function findAuditHead(client: Client): Promise<number> {
  const reaches = async (seq: number) => (await readAuditPage(client, seq, 1)).entries.length > 0;
  let none = 1;
  while (await reaches(none)) none *= 2;
  let some = Math.floor(none / 2);
  while (none - some > 1) {
    const middle = Math.floor((some + none) / 2);
    if (await reaches(middle)) some = middle;
    else none = middle;
  }
  return some;
}
