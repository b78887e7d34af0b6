import type { EventDraft, RunError } from "../../protocol/events.ts";
import { own } from "../../protocol/own.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { NodeContext, NodeOutcome } from "./node-type.ts";
import { InterruptTimedOut, Suspension } from "./suspension.ts";

/** What a call of a node comes to, when it throws as well. */
export function outcomeOf(call: () => NodeOutcome): NodeOutcome {
  try {
    return call();
  } catch (error) {
    return thrown(error);
  }
}

export function thrown(error: unknown): NodeOutcome {
  if (error instanceof Suspension) return { type: "suspend", request: error.request };
  return { type: "failed", error: errorOf(error) };
}

function errorOf(error: unknown): RunError {
  if (error instanceof VersionOutOfRange) return { code: "version_out_of_range", message: error.message };
  if (error instanceof InterruptTimedOut) return { code: "interrupt_timeout", message: error.message };
  const message = error instanceof Error && error.message !== "" ? error.message : "The node raised an error.";
  return { code: "node_threw", message };
}

/** The first call pins `max`, or what is recorded of it elsewhere; a pin the code no longer supports ends the node. */
export function versionSource(
  run: Run,
  nodeId: string,
  pins: EventDraft[],
  recorded: (changeId: string) => number | undefined = () => undefined,
): NodeContext["getVersion"] {
  const made = new Map<string, number>();
  return (changeId, min, max) => {
    let pinned = made.get(changeId) ?? own(run.pins, changeId);
    if (pinned === undefined) {
      pinned = recorded(changeId) ?? max;
      made.set(changeId, pinned);
      pins.push({ type: "version.pinned", nodeId, payload: { changeId, version: pinned, nodeId } });
    }
    if (pinned < min || pinned > max) throw new VersionOutOfRange(changeId, pinned, min, max);
    return pinned;
  };
}

class VersionOutOfRange extends Error {
  constructor(changeId: string, pinned: number, min: number, max: number) {
    super(`Change ${changeId} is pinned to version ${pinned}; this code supports ${min} to ${max}.`);
  }
}

/** What a node returns is used as the log will give it back, so that a restart changes nothing. */
export function asJson(outcome: NodeOutcome): NodeOutcome {
  try {
    return JSON.parse(JSON.stringify(outcome)) as NodeOutcome;
  } catch {
    const message = "The node returned something that is not JSON.";
    return { type: "failed", error: { code: "node_output_invalid", message } };
  }
}
