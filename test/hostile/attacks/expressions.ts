import { expect } from "vitest";
import { workflow } from "../../../src/testing/workflow.ts";
import type { Attack } from "../attack.ts";
import type { Target } from "../target.ts";

const shared = (times: number): string =>
  times === 0 ? "variables.list" : `[${shared(times - 1)}].map(v${times}, [${`v${times},`.repeat(7)} v${times}])`;

/** Short to write, and without an end in time or memory when they are evaluated as they are. */
const ENDLESS = {
  shared: shared(12),
  compared: `${shared(10)} == ${shared(10)}`,
  summed: `size(variables.list.map(a, ${Array(90).fill("variables.list").join("+")})) > 0`,
  copied: "size(variables.list.map(a, variables.long.lowerAscii())) > 0",
  searched: "variables.long.contains('b' + variables.long)",
  duration: "duration(variables.long) == duration('1s')",
};

export const attacks: readonly Attack[] = [
  {
    title: "expressions that take for ever fail their node, and the host goes on",
    async attempt(target) {
      await target.register(workflow({ id: "small", nodes: { a: "core.noop" } }));
      const inputs = { list: Array.from({ length: 5_000 }, (_, i) => i), long: "1".repeat(200_000) };
      const variables = [
        { name: "list", type: "array" as const },
        { name: "long", type: "string" as const },
      ];
      const begun = Object.entries(ENDLESS).map(async ([name, expression]) => {
        const node = { typeId: "core.identity", inputs: { x: { type: "expression" as const, expression } } };
        await target.register(workflow({ id: `endless-${name}`, nodes: { node }, variables }));
        return target.begin(`endless-${name}`, { inputs });
      });
      const runIds = await Promise.all(begun);
      expect((await target.ends(await target.begin("small"))).status).toBe("completed");
      for (const runId of runIds) expect((await target.ends(runId)).status).toBe("failed");
    },
  },
  {
    title: "conditions of many nodes that take long each leave the host free in between, also in a replay",
    async attempt(target) {
      const ids = Array.from({ length: 48 }, (_, i) => i);
      const loops = "variables.list.all(x, variables.list.all(y, x + y >= 0))";
      const edges = ids.map((i) => ({
        from: `s${i}`,
        to: `t${i}`,
        condition: { type: "expression" as const, expression: `${loops} || ${i} < 0` },
      }));
      const nodes = Object.fromEntries(ids.flatMap((i) => [`s${i}`, `t${i}`]).map((id) => [id, "core.noop"]));
      const variables = [{ name: "list", type: "array" as const }];
      await target.register(workflow({ id: "weighing", nodes, edges, variables }));
      const runId = await target.begin("weighing", { inputs: { list: Array.from({ length: 250 }, (_, i) => i) } });
      expect(await answersUntil(target, target.ends(runId))).toBeGreaterThan(4);
      const replay = target.ask("POST", `/v1/runs/${runId}:fork`, { body: { mode: "replay", fromSeq: 0 } });
      expect(
        await answersUntil(
          target,
          replay.then(({ json }) => target.ends(json.runId)),
        ),
      ).toBeGreaterThan(4);
    },
  },
];

/** How many requests are answered, one after another, until something has happened. */
async function answersUntil(target: Target, happening: Promise<unknown>): Promise<number> {
  let isOver = false;
  const over = happening.finally(() => {
    isOver = true;
  });
  let answers = 0;
  while (!isOver) {
    await target.ask("GET", "/v1/host/assay/whoami");
    answers += 1;
  }
  await over;
  return answers;
}
