import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { Claim, Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { begin, engineOn, logOf, register, scriptedEffect, until, workerOn } from "../../testing/engine.ts";
import { expectAllRebuilt } from "../../testing/rebuilt.ts";
import { workflow } from "../../testing/workflow.ts";
import { withLargeCommitsInTurn } from "../families/large-commits.ts";
import type { Host } from "../host.ts";
import { ByteRoom, defaultRoom, RunRoom } from "./run-room.ts";
import type { Worker } from "./worker.ts";

let store: Store;
let worker: Worker | undefined;
beforeEach(async () => {
  store = await openSqliteStore({ path: ":memory:" });
});
afterEach(async () => {
  await worker?.stop(0);
  worker = undefined;
  await store.close();
});

const ended = (run: Run) => isTerminal(run.status);
const SETTINGS = { maxRunBytes: 200_000, maxBytesInHand: 400_000 };

function doubling(times: number) {
  const nodes = Array.from({ length: times }, (_, i) => {
    const inputs = { x: { type: "expression" as const, expression: "variables.x + variables.x" } };
    return [`n${i}`, { typeId: "core.identity", inputs }] as const;
  });
  return workflow({
    id: "doubling",
    nodes: Object.fromEntries(nodes),
    edges: nodes.slice(1).map((_, i) => `n${i}>n${i + 1}`),
    variables: [{ name: "x", type: "string", defaultValue: "12345678" }],
  });
}

describe("the room for runs", () => {
  test("leaves most of the heap to a turn, whatever the heap is", () => {
    expect(defaultRoom(2 ** 32)).toMatchObject({ maxRunBytes: 16_000_000, maxBytesInHand: 2 ** 30 });
    expect(defaultRoom(2 ** 27)).toMatchObject({ maxRunBytes: 2 ** 23, maxBytesInHand: 2 ** 25 });
  });

  test("reads logs of runs that an earlier version let grow to 64 MB", () => {
    expect(new RunRoom(defaultRoom(2 ** 30)).maxLogBytes).toBe(128_000_000);
    expect(new RunRoom({ maxRunBytes: 200_000, maxBytesInHand: 400_000 }).maxLogBytes).toBe(400_000);
  });
});

describe("a run whose state is too large to load", () => {
  test("fails with run_too_large without being loaded, while others complete", async () => {
    const plain = engineOn(store);
    const workflowId = await register(plain, workflow({ id: "noop", nodes: { a: "core.noop" } }));
    const huge = await begin(plain, { workflowId, inputs: { text: "x".repeat(100_000) } });
    const small = await begin(plain, { workflowId });
    const room = new RunRoom({ ...SETTINGS, maxBytesInHand: 20_000, maxLoadBytes: 50_000 });
    worker = workerOn({ ...engineOn(store), room });
    expect((await until(store, small, ended)).status).toBe("completed");
    const run = await until(store, huge, ended);
    expect(run).toMatchObject({ status: "failed", error: { code: "run_too_large" }, variables: {} });
    expect(worker.stats().claimed).toBe(1);
    expect((await logOf(store, huge)).map(({ type }) => type)).toEqual([
      "run.started",
      "assay.state.dropped",
      "run.failed",
    ]);
    await expectAllRebuilt(store);
  });
});

describe("a run that is larger than a run may be, as an earlier version left it", () => {
  test("ends with what its nodes decide, and fails where one adds a large value", async () => {
    const host = { ...engineOn(store), room: new RunRoom(SETTINGS) };
    const copies = { typeId: "core.identity", inputs: { y: { type: "variable" as const, variableName: "x" } } };
    const x = { name: "x", type: "string" as const };
    const plain = await register(host, workflow({ id: "plain", nodes: { a: "core.noop" }, variables: [x] }));
    const copy = await register(host, workflow({ id: "copy", nodes: { a: copies }, variables: [x] }));
    worker = workerOn(host);
    const inputs = { x: "x".repeat(250_000) };
    const [ends, fails] = [
      await begin(host, { workflowId: plain, inputs }),
      await begin(host, { workflowId: copy, inputs }),
    ];
    expect((await until(store, ends, ended)).status).toBe("completed");
    expect((await until(store, fails, ended)).error?.code).toBe("run_too_large");
  });
});

describe("a run of many small values", () => {
  test("fails with run_too_large by what they take to read, and so does one whose outputs do not fit", async () => {
    const host = { ...engineOn(store), room: new RunRoom(SETTINGS) };
    const copies = { typeId: "core.identity", inputs: { y: { type: "variable" as const, variableName: "x" } } };
    const x = { name: "x", type: "array" as const };
    const workflowId = await register(host, workflow({ id: "copy", nodes: { a: copies }, variables: [x] }));
    worker = workerOn(host);
    const outcome = async (value: unknown[]) => {
      const run = await until(store, await begin(host, { workflowId, inputs: { x: value } }), ended);
      return run.error?.message ?? run.status;
    };
    expect(await outcome(Array.from({ length: 400 }, (_, i) => ({ [`k${i}`]: 0 })))).toBe("completed");
    expect(await outcome(Array.from({ length: 900 }, (_, i) => ({ [`k${i}`]: 0 })))).toMatch(/^With what node a adds/);
    expect(await outcome(["x".repeat(60_000)])).toMatch(/^With its outputs/);
  });
});

describe("a run that doubles a variable", () => {
  test("fails with run_too_large, and what it had is kept in its log", async () => {
    const host = { ...engineOn(store), room: new RunRoom(SETTINGS) };
    const workflowId = await register(host, doubling(30));
    worker = workerOn(host);
    const runId = await begin({ ...host, localWorker: worker }, { workflowId });
    expect(await until(store, runId, ended)).toMatchObject({ status: "failed", error: { code: "run_too_large" } });
    const log = await logOf(store, runId);
    expect(log.at(-1)?.type).toBe("run.failed");
    expect(log.filter(({ type }) => type === "node.completed").length).toBeGreaterThan(5);
  });

  test("takes its turn alone, and only the one that takes it is written out", async () => {
    const room = new RunRoom(SETTINGS);
    let [writing, most] = [0, 0];
    const counted: Store = {
      ...store,
      async commit(unit) {
        const large = unit.runs?.some(({ run }) => JSON.stringify(run).length > room.smallBytes) ?? false;
        if (large) most = Math.max(most, ++writing);
        await new Promise((resolve) => setTimeout(resolve, 1));
        return store.commit(unit).finally(() => {
          if (large) writing -= 1;
        });
      },
    };
    const host: Host = { ...engineOn(withLargeCommitsInTurn(counted, room)), room };
    const workflowId = await register(host, doubling(30));
    const small = await register(host, workflow({ id: "small", nodes: { a: "core.noop" } }));
    worker = workerOn(host, { concurrency: 2 });
    const hands = { ...host, localWorker: worker };
    const large = await Promise.all(Array.from({ length: 12 }, () => begin(hands, { workflowId })));
    const others = await Promise.all(Array.from({ length: 12 }, () => begin(hands, { workflowId: small })));
    for (const runId of others) expect((await until(store, runId, ended)).status).toBe("completed");
    for (const runId of large) expect((await until(store, runId, ended)).error?.code).toBe("run_too_large");
    expect(most).toBe(1);
  });
});

describe("large runs that wait in the queue", () => {
  test("are claimed one at a time, and never read together with small ones", async () => {
    const room = new RunRoom(SETTINGS);
    const claims: { claim: Claim; got: number }[] = [];
    const watched: Store = {
      ...store,
      async claimRuns(claim) {
        const runs = await store.claimRuns(claim);
        claims.push({ claim, got: runs.length });
        return runs;
      },
    };
    const host: Host = { ...engineOn(watched), room };
    const workflowId = await register(host, workflow({ id: "plain", nodes: { a: "core.noop" } }));
    const text = "x".repeat(room.smallBytes * 2);
    const large = await Promise.all(Array.from({ length: 5 }, () => begin(host, { workflowId, inputs: { text } })));
    const small = await Promise.all(Array.from({ length: 5 }, () => begin(host, { workflowId })));
    worker = workerOn(host);
    for (const runId of [...large, ...small]) expect((await until(store, runId, ended)).status).toBe("completed");
    const ofLarge = claims.filter(({ claim, got }) => claim.stateBytes?.above !== undefined && got > 0);
    expect(ofLarge.map(({ got }) => got)).toEqual([1, 1, 1, 1, 1]);
    expect(claims.every(({ claim }) => claim.stateBytes !== undefined)).toBe(true);
  });

  test("wait until those that execute have given back their room, and then go on", async () => {
    const room = new RunRoom({ maxRunBytes: 200_000, maxBytesInHand: 200_000 });
    let [executing, most] = [0, 0];
    const slow = {
      ...scriptedEffect("test.slow"),
      execute: async () => {
        most = Math.max(most, ++executing);
        await new Promise((resolve) => setTimeout(resolve, 20));
        executing -= 1;
        return { type: "completed" as const };
      },
    };
    const host: Host = { ...engineOn(store, [slow]), room };
    const workflowId = await register(host, workflow({ id: "slow", nodes: { act: "test.slow" } }));
    worker = workerOn(host);
    const hands = { ...host, localWorker: worker };
    // Each takes 80 % of the room while its node executes.
    const text = "x".repeat(80_000);
    const runIds = await Promise.all(Array.from({ length: 6 }, () => begin(hands, { workflowId, inputs: { text } })));
    for (const runId of runIds) expect((await until(store, runId, ended)).status).toBe("completed");
    expect(most).toBe(1);
    await worker.stop(0);
    expect(room.bytes.used).toBe(0);
  });
});

describe("a room of bytes", () => {
  test("serves those who wait in their order, although a later one would fit", async () => {
    const room = new ByteRoom(10);
    const first = room.takeNow(8);
    const served: string[] = [];
    const large = room.take(9).then((release) => {
      served.push("large");
      release();
    });
    const small = room.take(1).then(() => served.push("small"));
    expect(room.takeNow(1)).toBeUndefined();
    expect(served).toEqual([]);
    first?.();
    await Promise.all([large, small]);
    expect(served).toEqual(["large", "small"]);
    expect(room.used).toBe(1);
  });

  test("gives everything to one who wants more than there is, when nobody else has any", async () => {
    const room = new ByteRoom(10);
    const release = await room.take(1000);
    expect(room.used).toBe(10);
    release();
    release();
    expect(room.used).toBe(0);
  });

  test("lets go of one who gives up, and serves the next", async () => {
    const room = new ByteRoom(10);
    const held = room.takeNow(5);
    const next = room.takeWithin(10, 1);
    const after = room.take(5);
    expect(await next).toBeUndefined();
    (await after)();
    held?.();
    expect([room.used, room.waiting]).toEqual([0, 0]);
  });
});
