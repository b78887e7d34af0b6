import type { WorkflowDefinition } from "../protocol/workflows/workflow.ts";
import { workflow } from "./workflow.ts";

/** Waits for a moment and then doubles a text so often that no host can hold it: all such runs grow at the same time. */
export function doubling(id: string, delayMs = 300): WorkflowDefinition {
  const names = Array.from({ length: 26 }, (_, i) => `n${i}`);
  const inputs = { x: { type: "expression" as const, expression: "variables.x + variables.x" } };
  return workflow({
    id,
    nodes: {
      wait: { typeId: "core.delay", config: { delayMs } },
      ...Object.fromEntries(names.map((name) => [name, { typeId: "core.identity", inputs }])),
    },
    edges: names.map((name, i) => `${names[i - 1] ?? "wait"}>${name}`),
    variables: [{ name: "x", type: "string", defaultValue: "12345678" }],
  });
}
