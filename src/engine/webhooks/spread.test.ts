import { beforeEach, expect, test } from "vitest";
import type { ClaimedDelivery } from "../../store/port/gates.ts";
import type { Unit } from "../../store/port/store.ts";
import { deliveriesOn, settled, untilDeliveries, webhookTo } from "../../testing/deliveries.ts";
import { begin, engineOn, logOf, register, until } from "../../testing/engine.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import type { Host } from "../host.ts";
import { DELIVERIES_MAX, isSpread, spread } from "./spread.ts";

const NODES = Object.fromEntries(Array.from({ length: 60 }, (_, place) => [`n${place}`, "core.noop"]));
const WEBHOOKS = 20;

const bench = workbench();
let units: Unit[];
let host: Host;

/** A run of 60 nodes, of a tenant with 20 webhooks, half of which want all events. */
async function wideRun(): Promise<string> {
  units = [];
  await register(host, workflow({ id: "wide", nodes: NODES }));
  for (let i = 0; i < WEBHOOKS; i++) {
    await webhookTo(host, `http://127.0.0.1:9/${i}`, { events: i % 2 === 0 ? ["*"] : ["run.*", "node.completed"] });
  }
  bench.work(host);
  const runId = await begin(host, { workflowId: "wide" });
  await until(bench.store, runId, ended);
  return runId;
}

beforeEach(() => {
  const { store } = bench;
  const commit = (unit: Unit) => {
    units.push(unit);
    return store.commit(unit);
  };
  host = engineOn({ ...store, commit });
});

const deliveriesOfUnits = () => units.map(({ deliveries = [] }) => deliveries.length);

test("a commit of many events for many webhooks has one row in the place of their deliveries", async () => {
  await wideRun();
  expect(Math.max(...deliveriesOfUnits())).toBeLessThanOrEqual(WEBHOOKS);
});

test("the deliveries are written from it some at a time, each once, also where that is begun again", async () => {
  const runId = await wideRun();
  const log = await logOf(bench.store, runId);
  const some = log.filter(({ type }) => type.startsWith("run.") || type === "node.completed").length;
  const expected = (WEBHOOKS / 2) * (log.length + some);
  expect(expected).toBeGreaterThan(DELIVERIES_MAX);
  const written = () => bench.store.listDeliveries({ tenant: "t1" }, { runId, limit: 10_000 });
  const [row] = (await written()).filter(isSpread);
  for (let i = 0; i < 2; i++) await spread(host, row as ClaimedDelivery, new AbortController().signal);
  const deliveries = (await written()).filter(({ webhookId }) => webhookId !== undefined);
  expect(deliveries).toHaveLength(expected);
  expect(new Set(deliveries.map(({ webhookId, sequence }) => `${webhookId} ${sequence}`)).size).toBe(expected);
  expect(deliveries.every(({ sequence, eventType }) => log[sequence]?.type === eventType)).toBe(true);
  expect(Math.max(...deliveriesOfUnits())).toBeLessThanOrEqual(DELIVERIES_MAX);
});

test("deliveries that are sent find the row and write them", async () => {
  const runId = await wideRun();
  const deliveries = deliveriesOn(host);
  const all = await untilDeliveries(host, (found) => found.some((one) => isSpread(one) && settled([one])), {
    runId,
    limit: 10_000,
  });
  await deliveries.stop(0);
  expect(all.length).toBeGreaterThan(DELIVERIES_MAX);
});
