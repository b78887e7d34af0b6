import { expect } from "vitest";
import { workflow } from "../../../src/testing/workflow.ts";
import type { Attack } from "../attack.ts";

const LEVELS = 12;
const NODES = 8;
const GATE = { typeId: "core.approvalGate", config: {} };
const starts = (workflowId: string) => ({ typeId: "core.subWorkflow", config: { workflowId } });

export const attacks: readonly Attack[] = [
  {
    title: "a branch of a run with ways without number through the workflows below it is answered",
    async attempt(target) {
      await target.register(workflow({ id: `way-${LEVELS}`, nodes: { gate: GATE } }));
      for (let level = 0; level < LEVELS; level++) {
        const nodes = Array.from({ length: NODES }, (_, i) => [`n${i}`, starts(`way-${level + 1}`)]);
        await target.register(workflow({ id: `way-${level}`, nodes: Object.fromEntries(nodes) }));
      }
      const top = workflow({ id: "ways", nodes: { gate: GATE, below: starts("way-0") }, edges: ["gate>below"] });
      await target.register(top);
      const runId = await target.begin("ways");
      await target.reaches(runId, ["waiting-approval"]);
      const body = { mode: "branch", fromSeq: 1, runOptionsOverlay: { inputs: { text: "another" } } };
      expect((await target.ask("POST", `/v1/runs/${runId}:fork`, { body })).status).toBe(201);
    },
  },
];
