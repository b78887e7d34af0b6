import type { RunEvent } from "../../protocol/events.ts";
import { activeNodes, type Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import { childPlansOf } from "../families/start-child.ts";
import type { Host } from "../host.ts";
import { checkedTurn } from "../schemas/schema-checks.ts";
import { type Turn, turnSteps } from "../worker/turn.ts";
import type { Plan } from "../workflows/decide/plan.ts";

/**
 * The turn that a worker would take next, for whoever has just decided something about the run: whoever waits for the
 * decision sees what came of it one commit sooner. Undefined where the run is in a worker's hands, where what comes next
 * touches the outside world or may have its answer already, and where no worker runs in this process: then it is left
 * to a worker.
 */
export async function advanceRun(host: Host, plan: Plan, run: Run): Promise<Turn | undefined> {
  if (host.localWorker === undefined || isTerminal(run.status)) return undefined;
  const active = activeNodes(run);
  const ready = active.some(([, { status }]) => status === "resumed");
  if (!ready || active.some(([, { status }]) => status === "executing")) return undefined;
  try {
    const childPlans = await childPlansOf(host, run, plan);
    const turn = await checkedTurn(() =>
      turnSteps(host, plan, run, [], new Map(), childPlans, [], { smallOnly: true }),
    );
    return turn.launches.length === 0 && !turn.events.some(waitsForEvent) ? turn : undefined;
  } catch {
    // What is wrong with the run is the worker's to find out and report, and large turns are the worker's to take; the decision stands.
    return undefined;
  }
}

/** The event may be held already; whoever raises such a wait has to look. */
function waitsForEvent(event: RunEvent): boolean {
  return event.type === "interrupt.requested" && event.payload.kind === "external-event";
}
