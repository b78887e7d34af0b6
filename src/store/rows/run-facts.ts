import { agentsOf } from "../../protocol/agents/agent-of.ts";
import { wasDecidedByPerson } from "../../protocol/gates/interrupt.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { RunsTable } from "../schema/tables.ts";
import { agentColumn } from "./agent-column.ts";

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
