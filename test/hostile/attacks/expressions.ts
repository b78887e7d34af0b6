import { expect } from "vitest";
import { workflow } from "../../../src/testing/workflow.ts";
import type { Attack } from "../attack.ts";

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
];
