import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { annotationOf } from "../../testing/annotation-builders.ts";
import { startedRun } from "../../testing/builders.ts";
import { SEARCHES, TEXTS } from "../../testing/search-texts.ts";
import { annotationRow, textRow } from "../rows/annotation-rows.ts";
import { migrate } from "../schema/migrations.ts";
import { kyselyOver } from "../sqlite/kysely-dialect.ts";
import { IN_MEMORY, openForWriting, type SqliteDatabase } from "../sqlite/open-database.ts";
import { searchFor } from "./annotations.ts";

let handle: SqliteDatabase;
beforeEach(async () => {
  handle = await openForWriting(IN_MEMORY);
  const db = kyselyOver(handle);
  await migrate(db);
  const { run } = startedRun({ tenant: "t" });
  const rows = Object.entries(TEXTS).map(([annotationId, note]) =>
    annotationRow(annotationOf(run, { annotationId, note })),
  );
  await db.insertInto("annotations").values(rows).execute();
  await db
    .insertInto("annotation_texts")
    .values(rows.flatMap((row) => textRow(row) ?? []))
    .execute();
});
afterEach(() => handle.close());

async function found(asked: string, few: number): Promise<string[]> {
  const db = kyselyOver(handle);
  const { from, where } = await searchFor(db, [asked], few);
  const rows = await db.selectFrom(from.as("annotations")).select("annotation_id").where(where).execute();
  return rows.map(({ annotation_id }) => annotation_id).sort();
}

describe("SQLite", () => {
  test.each(SEARCHES)("finds the same for %j, whether many texts match or few", async (asked, expected) => {
    expect(await found(asked, 10_000)).toEqual(expected.toSorted());
    expect(await found(asked, 0)).toEqual(expected.toSorted());
  });

  test("keeps what is deleted in no index", async () => {
    handle.exec("delete from annotation_texts");
    expect(await found("answer", 10_000)).toEqual([]);
    const index = handle.prepare("select block from annotation_words_data").all() as { block: Uint8Array }[];
    const bytes = Buffer.concat(index.map(({ block }) => block)).toString("latin1");
    expect(bytes).not.toContain("customer");
  });

  test("still finds texts by number after it has packed the file", async () => {
    handle.exec("delete from annotation_texts where annotation_id in ('hyphens', 'mail', 'url'); vacuum");
    expect(await found("customer", 10_000)).toEqual(["apostrophe"]);
  });
});
