import { afterEach, expect, test, vi } from "vitest";
import { ADA, begin, engineOn, register, until } from "../../testing/engine.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import { forkRun } from "../runs/fork-run.ts";
import { Deferral } from "../schemas/decide/schema-deferral.ts";
import { UNITS_MAX } from "./decide/expression-meter.ts";

const bench = workbench();
afterEach(() => vi.restoreAllMocks());

const IDS = Array.from({ length: 20 }, (_, i) => i);
const costly = (i: number) => `variables.list.all(x, variables.list.all(y, x + y >= ${i} - 1000))`;

/** The most work of any decision between two of its pauses. */
function mostAtOnce(): () => number {
  const { spend, paused } = Deferral.prototype;
  const since = new WeakMap<Deferral, number>();
  let most = 0;
  vi.spyOn(Deferral.prototype, "spend").mockImplementation(function (this: Deferral, units) {
    const sum = (since.get(this) ?? 0) + units;
    since.set(this, sum);
    most = Math.max(most, sum);
    spend.call(this, units);
  });
  vi.spyOn(Deferral.prototype, "paused").mockImplementation(function (this: Deferral) {
    since.set(this, 0);
    paused.call(this);
  });
  return () => {
    const found = most;
    most = 0;
    return found;
  };
}

test.each([
  ["each lead to another node", (i: number) => `t${i}`],
  ["all lead to one node", () => "t"],
])("conditions that take long and %s are evaluated with pauses, also in a replay", async (_, target) => {
  const most = mostAtOnce();
  const host = engineOn(bench.store);
  const nodes = Object.fromEntries(IDS.flatMap((i) => [`s${i}`, target(i)]).map((id) => [id, "core.noop"]));
  const edges = IDS.map((i) => ({
    from: `s${i}`,
    to: target(i),
    condition: { type: "expression" as const, expression: `!(${costly(i)})` },
  }));
  const variables = [{ name: "list", type: "array" as const }];
  await register(host, workflow({ id: "weighing", nodes, edges, variables }));
  bench.work(host);
  const inputs = { list: Array.from({ length: 250 }, (_unused, i) => i) };
  const runId = await begin(host, { workflowId: "weighing", inputs });
  await until(bench.store, runId, ended);
  const ofRun = most();
  const request = { mode: "replay" as const, fromSeq: 0 };
  const replay = await forkRun(host, { caller: ADA, runId, request, record: () => undefined });
  await until(bench.store, replay.runId, ended);
  for (const units of [ofRun, most()]) {
    expect(units).toBeGreaterThan(UNITS_MAX / 10);
    expect(units).toBeLessThan(UNITS_MAX);
  }
});
