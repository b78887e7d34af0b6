import { closeSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newTenant, startedRun } from "../../testing/builders.ts";
import { save } from "../../testing/store-contract/subject.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { openSqliteStore } from "./sqlite-store.ts";

test("damage that a read met makes the store unusable for good, also where a write still works", async () => {
  const path = join(tempDir(), "assay.db");
  const store = await openSqliteStore({ path });
  const tenant = newTenant();
  for (let i = 0; i < 100; i++) await save(store, startedRun({ tenant, inputs: { text: "x".repeat(4000) } }));
  await store.ping();
  await store.close();

  const { size } = statSync(path);
  const from = Math.floor(size / 2 / 4096) * 4096;
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(size - from, 0xa5), 0, undefined, from);
  closeSync(file);

  const again = await openSqliteStore({ path });
  await expect(again.listRuns({ tenant }, { limit: 1000 })).rejects.toMatchObject({ code: "unavailable" });
  await expect(again.ping()).rejects.toThrow(/damaged/);
  await again.close();
});
