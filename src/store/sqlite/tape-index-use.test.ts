import { afterEach, beforeEach, expect, test } from "vitest";
import { migrate } from "../sql/migrate.ts";
import { sharedStore } from "../sql/shared-store.ts";
import { kyselyOver } from "./kysely-dialect.ts";
import { IN_MEMORY, openForWriting, type SqliteDatabase } from "./open-database.ts";
import { TAPE_READS } from "./tape-statements.ts";

let db: SqliteDatabase;
beforeEach(async () => {
  db = await openForWriting(IN_MEMORY);
  await migrate(kyselyOver(db));
});
afterEach(() => db.close());

type Shared = ReturnType<typeof sharedStore>;

async function planOf(call: (store: Shared) => Promise<unknown>): Promise<string> {
  const plans: string[] = [];
  const prepare = (sql: string) => {
    plans.push(planOfText(sql));
    return db.prepare(sql);
  };
  const watched = kyselyOver({ prepare, exec: (sql) => db.exec(sql), close: () => {} });
  await call(sharedStore(watched, watched));
  return plans.join("\n");
}

function planOfText(sql: string): string {
  const steps = db.prepare(`explain query plan ${sql}`).all() as { detail: string }[];
  return steps.map(({ detail }) => detail).join("\n");
}

test.each([{ tenant: "t" }, { tenant: "t", workspace: "w" }])(
  "tapes are found and listed by an index: %j",
  async (who) => {
    const found = await planOf((store) => store.listTapes(who, { limit: 9, digest: "ab" }));
    expect(found).toContain("tapes_of_digest (tenant=? AND digest=?");
    expect(found).not.toMatch(/SCAN|TEMP B-TREE/);
    const listed = await planOf((store) => store.listTapes(who, { limit: 9, before: "run-1" }));
    expect(listed).toContain("tapes_by_tenant (tenant=? AND run_id<?)");
    expect(listed).not.toMatch(/SCAN|TEMP B-TREE/);
    for (const read of [
      (store: Shared) => store.readTape(who, "run-1"),
      (store: Shared) => store.readSidecar(who, "run-1"),
      (store: Shared) => store.bodiesHere(who, "run-1"),
    ]) {
      expect(await planOf(read)).not.toContain("SCAN");
    }
  },
);

test("whether a tape is here already is one look into an index", () => {
  expect(planOfText(TAPE_READS.tapeByDigest)).toContain("tapes_by_digest (tenant=? AND digest=? AND <expr>=?)");
});
