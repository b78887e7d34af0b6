import { expect } from "vitest";
import type { Run } from "../protocol/runs/run.ts";
import type { ForkHost } from "./fork-host.ts";
import { type WorkflowSpec, workflow } from "./workflow.ts";

export const ACCEPT = { action: "accept" };
export const TEXT = { name: "text", type: "string", defaultValue: "harmless" } as const;
const SHOWS_TEXT = { artifact: { type: "variable", variableName: "text" } } as const;
export const gate = (config: object = {}) => ({ typeId: "core.approvalGate", config, inputs: SHOWS_TEXT }) as never;
export const OTHER_TEXT = { inputs: { text: "harmful" } };

/** What tests of the gates of branches do with a host. */
export function branchBench(forks: () => ForkHost) {
  const register = (spec: WorkflowSpec) => forks().gates.registerWorkflow(workflow({ variables: [TEXT], ...spec }));
  /** A run of the workflow that has come to its end, with its gate answered. */
  const ended = async (id: string, value: unknown = ACCEPT, more: object = {}): Promise<string> => {
    const runId = await forks().gates.waiting(id, "owner", more);
    const given = await forks().gates.answer(runId, value);
    expect(given.statusCode, given.payload).toBe(200);
    await forks().ended(runId);
    return runId;
  };
  /** A branch of a run from right before its end, or from where a node began. */
  const branch = async (source: string, runOptionsOverlay: object = {}, nodeId?: string): Promise<string> => {
    const fromSeq = await pointIn(source, nodeId);
    return (await forks().fork(source, { mode: "branch", fromSeq, runOptionsOverlay })).runId;
  };
  const pointIn = async (source: string, nodeId?: string): Promise<number> => {
    const log = await forks().log(source);
    const begun = log.findLast((event) => event.type === "node.started" && event.nodeId === nodeId);
    return begun?.sequence ?? log.length - 1;
  };
  const waits = (runId: string): Promise<Run> =>
    forks().gates.until(runId, ({ status }) => status.startsWith("waiting-"));
  const callsOf = (runId: string): number => forks().effect.calls.filter((one) => one === runId).length;
  const stateOf = async (runId: string, node = "gate") =>
    (await forks().gates.snapshot(runId)).nodeStates?.[node] as Readonly<Record<string, unknown>> | undefined;

  /** The branch waits, has done nothing behind its gate, and goes on when somebody decides for it. */
  async function expectAsked(runId: string, value: unknown = ACCEPT, node = "gate"): Promise<void> {
    await waits(runId);
    expect(callsOf(runId)).toBe(0);
    const given = await forks().gates.answer(runId, value, { node });
    expect(given.statusCode, given.payload).toBe(200);
    await forks().ended(runId);
  }
  return { register, ended, branch, pointIn, waits, callsOf, stateOf, expectAsked };
}
