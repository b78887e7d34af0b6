import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ENGINE_VERSION } from "../../protocol/events.ts";
import { NOW, newTenant, runWrite, startedRun } from "../../testing/builders.ts";
import { newDelivery } from "../../testing/gate-builders.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { openSqliteStore } from "./sqlite-store.ts";

describe("a SQLite file whose owner died while it worked on a run and a delivery", () => {
  test("gives both to the next owner at once, whatever the lease says", async () => {
    const path = join(tempDir(), "assay.db");
    const first = await openSqliteStore({ path });
    const tenant = newTenant();
    const { run, events } = startedRun({ tenant });
    const lease = { owner: "the dead", untilMs: NOW + 1_000_000 };
    const callback = newDelivery({ url: "https://example.com/back" });
    await first.commit({ tenant, runs: [runWrite({ run, events }, { lease })], deliveries: [callback] });
    await first.claimDeliveries({ ...lease, nowMs: NOW, limit: 1 });
    await first.close();

    const second = await openSqliteStore({ path });
    expect(await second.nextWakeAtMs(NOW, ENGINE_VERSION)).toBe(NOW);
    const claim = { owner: "the living", nowMs: NOW, untilMs: NOW + 10_000, limit: 5, engineVersion: ENGINE_VERSION };
    expect(await second.claimRuns(claim)).toEqual([run]);
    expect(await second.claimDeliveries(claim)).toMatchObject([callback]);
    await second.close();
  });
});

describe("a new SQLite file", () => {
  test("can be read by nobody else, since it holds secrets", async () => {
    const path = join(tempDir(), "new folder", "assay.db");
    const store = await openSqliteStore({ path });
    await store.hostSecret("signing", () => "secret");
    for (const file of [path, `${path}-wal`]) expect(statSync(file).mode & 0o077).toBe(0);
    await store.close();
  });
});
