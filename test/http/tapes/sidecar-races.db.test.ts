import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { type TestHost, testHost } from "../../../src/testing/host.ts";
import { JudgmentClient } from "../../../src/testing/judgment-client.ts";
import { createDatabase } from "../../../src/testing/postgres.ts";
import { SidecarClient, sidecar } from "../../../src/testing/sidecar-client.ts";

/** Hosts that share a database; there is one on SQLite, since its file has one owner. */
const DATABASES: readonly (readonly [string, () => Promise<{ hosts: TestHost[]; drop(): Promise<void> }>])[] = [
  [
    "SQLite",
    async () => {
      const store = await openSqliteStore({ path: ":memory:" });
      return { hosts: [await testHost({ store, worker: true })], drop: async () => {} };
    },
  ],
  [
    "PostgreSQL",
    async () => {
      const { url, drop } = await createDatabase();
      const one = await testHost({ store: await openPostgresStore({ url }), worker: true });
      const two = await testHost({ store: await openPostgresStore({ url }) });
      return { hosts: [one, two], drop: () => drop() };
    },
  ],
];

describe.each(DATABASES)("pushes at the same time on %s", (_, open) => {
  let hosts: TestHost[];
  let drop: () => Promise<void>;
  let judges: JudgmentClient;

  beforeAll(async () => {
    ({ hosts, drop } = await open());
    judges = new JudgmentClient(hosts[0] as TestHost);
  });
  afterAll(async () => {
    for (const host of hosts) await host.close();
    await drop();
  });

  /** As many as hosts, twice, all at once. */
  const everywhere = <T>(push: (files: SidecarClient, i: number) => Promise<T>): Promise<T[]> =>
    Promise.all([...hosts, ...hosts].map((host, i) => push(new SidecarClient(host), i)));
  const live = async (runId: string) => {
    const query = { runId, state: "live", order: "oldest", limit: 1000 } as const;
    const found = await (hosts[0] as TestHost).store.listAnnotations({ tenant: "t1" }, query);
    return found.map(({ note }) => note).sort();
  };
  const files = () => new SidecarClient(hosts[0] as TestHost);

  test("of one file make its judgments once", async () => {
    const runId = await judges.ended();
    // More than one commit holds, so that the file is not there yet when others come to the first rows.
    const told = Array.from({ length: 300 }, (_, i) => ({ id: i % 3 === 0 ? "" : `r${i}`, evidence: `n${i}` }));
    const text = sidecar(...told);
    const answers = await everywhere((client) => client.push(runId, text));
    expect(answers.reduce((sum, { recorded }) => sum + recorded, 0)).toBe(300);
    expect(await live(runId)).toEqual(told.map(({ evidence }) => evidence).sort());
    expect(await files().pull(runId)).toBe(text);
  });

  test("of different files with the same new row leave one of them standing, over the other", async () => {
    const runId = await judges.ended();
    await everywhere((client, i) => client.push(runId, sidecar({ id: "a", evidence: `from ${i}` })));
    const { annotations } = await judges.page({ runId });
    const states = annotations.map(({ state }) => state);
    expect(states.filter((state) => state === "live")).toHaveLength(1);
    expect(await files().pull(runId)).toBe(sidecar({ id: "a", evidence: (await live(runId))[0] }));
  });

  test("of different rows lose none of them", async () => {
    const runId = await judges.ended();
    await everywhere((client, i) => client.push(runId, sidecar({ id: `of ${i}`, evidence: `from ${i}` })));
    const all = [...hosts, ...hosts].map((_, i) => `from ${i}`);
    expect(await live(runId)).toEqual(all);
    const rows = (await files().pull(runId)).trimEnd().split("\n").slice(1);
    expect(rows.map((row) => JSON.parse(row).evidence).sort()).toEqual(all);
  });

  test("and a retraction end in one of the two orders", async () => {
    const runId = await judges.ended();
    const { changes } = await files().push(runId, sidecar({ id: "a", evidence: "one" }));
    const annotationId = changes[0]?.annotationId ?? "";
    const retract = (hosts.at(-1) as TestHost).ask("POST", `/v1/host/assay/annotations/${annotationId}:retract`, {
      json: { reason: "a slip" },
    });
    const changed = sidecar({ id: "a", evidence: "two" });
    const [pushed, retracted] = await Promise.all([files().push(runId, changed), retract]);
    if (retracted.statusCode === 200) {
      expect(pushed).toMatchObject({ withdrawn: 1, superseded: 0 });
      expect(await live(runId)).toEqual([]);
    } else {
      expect(retracted.statusCode).toBe(409);
      expect(pushed).toMatchObject({ withdrawn: 0, superseded: 1 });
      expect(await live(runId)).toEqual(["two"]);
    }
  });

  test.each([
    ["as it was", 0],
    ["with rows put before it since", 2],
  ])("take more rows than one commit holds, and finish what broke off: the file %s", async (_what, added) => {
    const runId = await judges.ended();
    const rows = Array.from({ length: 620 }, (_, i) => ({
      id: `h${i}`,
      evidence: `n${i}`,
      ...(i % 2 === 0 && i > 0 ? { metadata: { supersedes: `h${i - 1}` } } : {}),
    }));
    const { host } = hosts[0] as TestHost;
    const { store } = host;
    let commits = 0;
    const broken = await testHost({
      store,
      host: {
        store: new Proxy(store, {
          get(target, name) {
            if (name !== "commit") return Reflect.get(target, name).bind?.(target) ?? Reflect.get(target, name);
            return (unit: Parameters<typeof store.commit>[0]) => {
              const isPush = unit.audit?.some(({ action }) => action === "sidecar.push");
              if (isPush && ++commits > 2) throw new Error("the power fails");
              return target.commit(unit);
            };
          },
        }),
      },
    });
    expect((await new SidecarClient(broken).try(runId, sidecar(...rows))).statusCode).toBe(500);
    await broken.app.close();
    expect(await host.store.readSidecar({ tenant: "t1" }, runId)).toBeUndefined();
    rows.unshift(...Array.from({ length: added }, (_, i) => ({ id: `new${i}`, evidence: `new ${i}` })));
    const again = await files().push(runId, sidecar(...rows));
    expect([again.unchanged, again.recorded]).toEqual([500, 120 + added]);
    const all = await store.annotationsOfRun(runId, undefined, 1000);
    expect(all).toHaveLength(620 + added);
    const counted = await store.feedbackRows(runId);
    expect(counted.feedback).toMatchObject([{ annotations: 311 + added }]);
    // Written in the last commit before the power failed, and in the first one after.
    const [h499, h500] = ["n499", "n500"].map((note) => all.find((one) => one.note === note));
    expect(h499).toMatchObject({ state: "superseded", supersededBy: h500?.annotationId });
    expect(h500).toMatchObject({ state: "live", supersedes: h499?.annotationId });
    expect(await files().push(runId, sidecar(...rows))).toMatchObject({ unchanged: 620 + added });
    expect(await files().pull(runId)).toBe(sidecar(...rows));
  });
});
