import { expect } from "vitest";
import { workflow } from "../../../src/testing/workflow.ts";
import type { Attack } from "../attack.ts";

export const attacks: readonly Attack[] = [
  {
    title: "a request without a key is refused and learns nothing about the run",
    async attempt(target) {
      await target.register(workflow({ id: "closed", nodes: { a: "core.noop" } }));
      const runId = await target.begin("closed");
      const answer = await target.ask("GET", `/v1/runs/${runId}`, { as: "nobody" });
      expect([answer.status, answer.json.error]).toEqual([401, "unauthenticated"]);
    },
  },
];
