import { defined } from "../../protocol/defined.ts";
import type { EventDraft, PayloadOf } from "../../protocol/events.ts";
import { own } from "../../protocol/own.ts";
import type { Child, Run } from "../../protocol/runs/run.ts";
import { handOver } from "../../protocol/runs/sensitive.ts";
import { maskFields, publicOutputs } from "../../protocol/runs/snapshot.ts";
import type { Host } from "../host.ts";
import { sensitiveIn } from "../runs/decide/settle-node.ts";
import { unfollowed } from "../runs/decide/verdict.ts";
import { mayTake, sizeOf } from "../runs/run-size.ts";
import { roomOf } from "../worker/run-room.ts";

type Ended = PayloadOf<"assay.child.ended">;

/** What a run is told of the end of one that it dispatched and waits for: its outputs, and what it asked for by name. */
export async function childEnded(host: Host, parent: Run, { nodeId, takes }: Child, child: Run): Promise<EventDraft> {
  const { runId: childRunId, secrets = [] } = child;
  const ended = { nodeId, childRunId, status: child.status as Ended["status"] };
  if (child.status !== "completed") {
    // A run holds its error as it is shown, so there is no secret in it.
    const error = defined({ error: child.error });
    return { type: "assay.child.ended", nodeId, payload: { ...ended, ...error } };
  }
  const plan = await host.plans.byHash(child.workflowHash);
  // Nothing in the child was let through, and nothing above it may be.
  const refined = unfollowed(plan, child);
  if (refined !== undefined) {
    return { type: "assay.child.ended", nodeId, payload: { ...ended, error: refined } };
  }
  const given = takes.filter((name) => own(child.variables, name) !== undefined);
  const variables = Object.fromEntries(given.map((name) => [name, child.variables[name]]));
  const sensitive = given.filter(sensitiveIn(plan, child));
  const payload: Ended = {
    ...ended,
    outputs: publicOutputs(child, plan.sensitivity),
    variables,
    ...(sensitive.length === 0 ? {} : { sensitive }),
  };
  if (!fits(parent, payload, roomOf(host).maxRunBytes)) {
    const message = `With what run ${childRunId} brings, the run would hold more than this host can keep.`;
    return { type: "assay.child.ended", nodeId, payload: { ...ended, error: { code: "run_too_large", message } } };
  }
  const shown = { ...payload, variables: maskFields(variables, new Set(sensitive)) };
  return { type: "assay.child.ended", nodeId, ...handOver(payload, shown, secrets) };
}

/** Children that end one after the other must not fill their parent until nobody can read it any more. */
function fits({ nodes, variables, channels, children }: Run, payload: Ended, bytesMax: number): boolean {
  return mayTake(sizeOf([nodes, variables, channels, children], bytesMax), sizeOf(payload, bytesMax), bytesMax);
}
