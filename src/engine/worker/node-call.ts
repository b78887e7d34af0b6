import type { EventDraft, RunError } from "../../protocol/events.ts";
import { own } from "../../protocol/own.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { NodeContext, NodeOutcome, SideWrites } from "./node-type.ts";
import { InterruptTimedOut, Suspension } from "./suspension.ts";
import type { Noted } from "./turn.ts";

/** The outcome of a node call, also where it throws. */
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

/** The first call for a change pins `max`, or the recorded version; a pin outside of the supported range fails the node. */
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

/** The outcome as the log will return it, so that a restart changes nothing. */
export function asJson(outcome: NodeOutcome): NodeOutcome {
  try {
    return JSON.parse(JSON.stringify(outcome)) as NodeOutcome;
  } catch {
    const message = "The node returned something that is not JSON.";
    return { type: "failed", error: { code: "node_output_invalid", message } };
  }
}

/** One call of a node with effects. */
export interface Attempt {
  readonly attempt: number;
  readonly abort: AbortController;
  /** Events that go into the log with the outcome. */
  readonly last: EventDraft[];
}

/** Events that an attempt writes before its outcome, and the caller that waits for the write. */
export interface Note extends Noted {
  readonly sideWrites: SideWrites;
  readonly written: () => void;
  readonly refused: (error: Error) => void;
}

/** The refusal of a write by an attempt that has ended. */
export class AttemptEnded extends Error {
  constructor(nodeId: string) {
    super(`This attempt of node ${nodeId} has ended; what it writes no longer counts.`);
  }
}

/** The side writes of all notes, for one commit. */
export function allSideWrites(notes: readonly Note[]): SideWrites {
  const documents = notes.flatMap(({ sideWrites }) => sideWrites.documents ?? []);
  const audit = notes.flatMap(({ sideWrites }) => sideWrites.audit ?? []);
  return { ...(documents.length === 0 ? {} : { documents }), ...(audit.length === 0 ? {} : { audit }) };
}
