import { instantArgument } from "../files/arguments.ts";
import type { Call } from "../program/command.ts";
import type { ANNOTATION_FILTERS } from "./commands.ts";

/** The parameters of the API that the flags stand for. */
export function annotationFilter(
  runId: string | undefined,
  flags: Call<typeof ANNOTATION_FILTERS>["flags"],
  nowMs: number,
) {
  return {
    runId,
    workflowId: flags.workflow,
    agentId: flags.agent,
    nodeId: flags.node,
    signal: flags.signal,
    label: flags.label,
    actor: flags.actor,
    actorKind: flags.actorKind,
    state: flags.state,
    flagged: flags.flagged ? ("open" as const) : undefined,
    from: instantArgument("--from", flags.from, nowMs),
    to: instantArgument("--to", flags.to, nowMs),
  };
}
