import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newTenant, runWrite, startedRun } from "../../testing/builders.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { openSqliteStore } from "./sqlite-store.ts";

test("a database file that is removed or moved away takes no more writes, so that none is acknowledged and lost", async () => {
  const path = join(tempDir(), "assay.db");
  const store = await openSqliteStore({ path });
  const tenant = newTenant();
  const write = () => store.commit({ tenant, runs: [runWrite(startedRun({ tenant }))] });
  expect(await write()).toEqual({ ok: true });
  renameSync(path, `${path}.away`);
  await expect(write()).rejects.toMatchObject({ code: "unavailable" });
  await expect(store.ping()).rejects.toMatchObject({ code: "unavailable" });
  renameSync(`${path}.away`, path);
  expect(await write()).toEqual({ ok: true });
  rmSync(path);
  await expect(write()).rejects.toMatchObject({ code: "unavailable" });
  await store.close();
});
