import { agentsOf } from "../protocol/agent-of.ts";
import { wasDecidedByPerson } from "../protocol/interrupt.ts";
import type { Run } from "../protocol/run.ts";
import { agentColumn } from "./agent-column.ts";
import type { RunsTable } from "./sql/tables.ts";

/** What runs are grouped and counted by, as both databases hold it beside the state it follows from. */
export function runFacts(
  run: Pick<Run, "metadata" | "agent" | "interrupts">,
): Pick<RunsTable, "agent_id" | "intervened"> {
  return { agent_id: agentColumn(agentsOf(run)), intervened: hasIntervention(run) ? 1 : 0 };
}

/** What somebody decided in the run that this one was forked from counts there, and only there. */
function hasIntervention({ interrupts }: Pick<Run, "interrupts">): boolean {
  for (const interruptId in interrupts) {
    const interrupt = interrupts[interruptId];
    if (interrupt !== undefined && !interrupt.inherited && wasDecidedByPerson(interrupt)) return true;
  }
  return false;
}
