import { type Checkpointer, checkpointer } from "../engine/audit/checkpointer.ts";
import { type AuditSigner, auditSigner } from "../engine/audit/signer.ts";
import type { Store } from "../store/port/store.ts";
import { openForWriting } from "../store/sqlite/open-database.ts";
import { auditDraft } from "./builders.ts";
import { hostAt } from "./moving-clock.ts";
import { accept, upTo } from "./store-contract/subject.ts";

export interface AuditLog {
  readonly store: Store;
  readonly host: ReturnType<typeof hostAt>;
  readonly signer: AuditSigner;
  readonly checkpointer: Checkpointer;
  readonly troubles: unknown[];
}

/** A store whose audit chains are signed every four entries or five minutes. */
export async function auditLogOn(store: Store, settings = {}): Promise<AuditLog> {
  const host = hostAt(store);
  const signer = await auditSigner(store);
  const troubles: unknown[] = [];
  const every = { intervalEntries: 4, intervalSeconds: 300, sweepMs: 1000, ...settings };
  return { store, host, signer, troubles, checkpointer: checkpointer(host, signer, every, (e) => troubles.push(e)) };
}

/** Adds entries in one commit, or in as many as it takes. */
export async function record(store: Store, tenant: string, count: number): Promise<void> {
  for (let done = 0; done < count; done += 500) {
    const audit = upTo(Math.min(500, count - done)).map((n) => auditDraft(`deed.${done + n + 1}`, { n: done + n + 1 }));
    await accept(store, { tenant, audit });
  }
}

/** Where each checkpoint begins and ends. */
export async function checkpointsOf(store: Store, tenant: string): Promise<[number, number][]> {
  const all = await store.readCheckpoints(tenant, 0, Number.MAX_SAFE_INTEGER);
  return all.map(({ prevSequence, atSequence }) => [prevSequence, atSequence]);
}

/** What somebody with the file in his hands does to it, triggers or not. */
export async function tamper(path: string, ...statements: readonly string[]): Promise<void> {
  const db = await openForWriting(path);
  try {
    for (const table of ["audit_log", "audit_checkpoints"]) {
      for (const deed of ["update", "delete"]) db.exec(`drop trigger if exists ${table}_refuses_${deed}`);
    }
    for (const statement of statements) db.exec(statement);
  } finally {
    db.close();
  }
}
