import { expect } from "vitest";
import { workflow } from "../../../src/testing/workflow.ts";
import type { Attack } from "../attack.ts";
import type { Target } from "../target.ts";

const DETACHED = { waitForCompletion: false, propagateCancellation: false };
const GATE = { typeId: "core.approvalGate", config: { title: "Go on?", actions: ["accept", "reject"] } };

function starts(workflowId: string) {
  return { typeId: "core.subWorkflow", config: { workflowId, ...DETACHED } };
}

/** Waits until no run of the workflow is on its way any more, and gives how many there are. */
async function settled(target: Target, workflowId: string, statuses: readonly string[]): Promise<number> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    let open = 0;
    for (const status of statuses) open += (await page(target, `workflowId=${workflowId}&status=${status}`)).length;
    if (open === 0) return (await page(target, `workflowId=${workflowId}`)).length;
    if (Date.now() > deadline) throw new Error(`${open} runs of ${workflowId} are still on their way`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function page(target: Target, query: string): Promise<readonly unknown[]> {
  return (await target.ask("GET", `/v1/runs?limit=100&${query}`)).json.runs;
}

export const attacks: readonly Attack[] = [
  {
    title: "a workflow that starts itself over and over comes to an end at the limit of its root",
    flags: ["--max-descendants", "40"],
    async attempt(target, rounds) {
      await target.register(workflow({ id: "bomb", nodes: { a: starts("bomb"), b: starts("bomb") } }));
      for (let round = 1; round <= Math.min(rounds, 2); round++) {
        await target.begin("bomb");
        expect(await settled(target, "bomb", ["pending", "running"])).toBe(Math.min(100, 41 * round));
      }
    },
  },
  {
    title: "a tenant beyond its number of active runs is refused with 429 and Retry-After, and another is not",
    flags: ["--max-active-runs", "3"],
    async attempt(target) {
      const waits = workflow({ id: "waits", nodes: { gate: GATE } });
      await target.register(waits);
      await target.register(waits, "mallory");
      const started = await Promise.all(
        Array.from({ length: 8 }, () => target.ask("POST", "/v1/runs", { body: { workflowId: "waits" } })),
      );
      const refused = started.filter(({ status }) => status !== 201);
      expect(refused.map(({ status, json }) => [status, json.error])).toEqual(
        Array.from({ length: 5 }, () => [429, "tenant_run_limit"]),
      );
      for (const { headers } of refused) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      await target.begin("waits", {}, "mallory");
      const { json } = await target.ask("POST", "/v1/host/assay/runs:cancel", { body: { workflowId: "waits" } });
      expect(json).toEqual({ cancelled: 3, failed: 0, more: false });
      await target.begin("waits");
    },
  },
  {
    title: "cancelling a root ends what it started detached, and another tenant cannot cancel it",
    async attempt(target) {
      await target.register(workflow({ id: "detached-leaf", nodes: { gate: GATE } }));
      const nodes = { a: starts("detached-leaf"), b: starts("detached-leaf"), c: starts("detached-leaf") };
      await target.register(workflow({ id: "detached-root", nodes }));
      const runId = await target.begin("detached-root");
      await target.ends(runId);
      const cancel = (as: "owner" | "mallory" | "viewer") =>
        target.ask("POST", "/v1/host/assay/runs:cancel", { as, body: { runId } });
      expect((await cancel("mallory")).status).toBe(404);
      expect((await cancel("viewer")).status).toBe(403);
      expect((await cancel("owner")).json).toEqual({ cancelled: 3, failed: 0, more: false });
      expect(await settled(target, "detached-leaf", ["pending", "running", "waiting-approval"])).toBe(3);
    },
  },
  {
    title: "a tenant with a flood of runs does not stop another tenant's run",
    async attempt(target, rounds) {
      const quick = workflow({ id: "quick", nodes: { a: "core.noop" } });
      await target.register(quick);
      await target.register(quick, "mallory");
      const flood = Array.from({ length: 150 * rounds }, () => target.begin("quick", {}, "mallory"));
      const run = await target.ends(await target.begin("quick"));
      expect(run.status).toBe("completed");
      await Promise.all(flood);
    },
  },
];
