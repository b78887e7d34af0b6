import { expect } from "vitest";
import { resolveInterrupt } from "../engine/gates/resolve-interrupt.ts";
import type { Host } from "../engine/host.ts";
import type { RunEvent } from "../protocol/events.ts";
import { wakeAtMs } from "../protocol/runs/due-times.ts";
import { fold, type Run } from "../protocol/runs/run.ts";
import { isTerminal } from "../protocol/runs/run-status.ts";
import type { WorkflowNode } from "../protocol/workflows/workflow.ts";
import type { Store } from "../store/port/store.ts";
import { ADA, until } from "./engine.ts";

/** A node that runs another workflow. */
export function calls(workflowId: string, config: object = {}): Partial<WorkflowNode> & { typeId: string } {
  return { typeId: "core.subWorkflow", config: { workflowId, ...config } };
}

/** A node that waits for somebody to accept. */
export const GATE = { typeId: "core.approvalGate", config: { title: "Go on?", actions: ["accept", "reject"] } };

export function accept(host: Host, runId: string, nodeId = "gate", action = "accept") {
  return resolveInterrupt(host, {
    caller: ADA,
    runId,
    of: { nodeId },
    value: { action },
    record: () => undefined,
  });
}

export async function read(store: Store, runId: string): Promise<Run> {
  const run = await store.readRun({ tenant: "t1" }, runId);
  if (run === undefined) throw new Error(`there is no run ${runId}`);
  return run;
}

/** The runs that a run has dispatched, oldest first. */
export async function childrenOf(store: Store, runId: string): Promise<Run[]> {
  const { children } = await read(store, runId);
  return Promise.all(Object.keys(children).map((id) => read(store, id)));
}

/** The one run that a run has dispatched, once it is as the test wants it. */
export async function childOf(store: Store, runId: string, holds: (run: Run) => boolean = () => true): Promise<Run> {
  const parent = await until(store, runId, ({ children }) => Object.keys(children).length > 0);
  return until(store, Object.keys(parent.children)[0] as string, holds);
}

/** Everything below a run, and the run itself. */
export async function familyOf(store: Store, runId: string): Promise<Run[]> {
  const below = await Promise.all((await childrenOf(store, runId)).map((child) => familyOf(store, child.runId)));
  return [await read(store, runId), ...below.flat()];
}

/** What must hold of any family at any time: rows are what the logs say, and nobody waits for what has ended. */
export async function expectSound(store: Store, runId: string): Promise<void> {
  for (const run of await familyOf(store, runId)) {
    await expectRebuilt(store, run.runId);
    for (const child of await childrenOf(store, run.runId)) {
      const link = run.children[child.runId];
      const awaited = link?.waits && !isTerminal(run.status) && run.status !== "cancelling";
      if (awaited) expect(isTerminal(link.status)).toBe(isTerminal(child.status));
      const cut = run.status === "failed" || run.status === "cancelled";
      if (cut && link?.propagates) expect(["completed", "failed", "cancelled", "cancelling"]).toContain(child.status);
    }
  }
}

async function expectRebuilt(store: Store, runId: string): Promise<void> {
  const rows = await store.readEvents(runId, 0, 100_000);
  const events = rows.map(({ body, sealed }) => {
    const event = JSON.parse(body) as RunEvent;
    return (sealed === undefined ? event : { ...event, sealed: JSON.parse(sealed) }) as RunEvent;
  });
  expect(events.map(({ sequence }) => sequence)).toEqual([...events.keys()]);
  const row = await store.runRow(runId);
  const rebuilt = fold(events);
  expect(JSON.parse(JSON.stringify(rebuilt))).toEqual(row?.state);
  expect(row?.wakeAtMs ?? undefined).toBe(rebuilt && wakeAtMs(rebuilt));
}
