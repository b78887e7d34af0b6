import type { EventDraft } from "../../protocol/events.ts";
import type { Beside } from "./node-type.ts";
import type { Noted } from "./turn.ts";

/** One call of a node with effects. */
export interface Attempt {
  readonly attempt: number;
  readonly abort: AbortController;
  /** Events that go into the log with the outcome. */
  readonly last: EventDraft[];
}

/** Events that an attempt wants written before its outcome, and the caller that waits for the write. */
export interface Note extends Noted {
  readonly beside: Beside;
  readonly written: () => void;
  readonly refused: (error: Error) => void;
}

/** The refusal of a write by an attempt that has ended. */
export class AttemptEnded extends Error {
  constructor(nodeId: string) {
    super(`This attempt of node ${nodeId} has ended; what it writes no longer counts.`);
  }
}

/** The side writes of all notes as those of one commit. */
export function besideAll(notes: readonly Note[]): Beside {
  const documents = notes.flatMap(({ beside }) => beside.documents ?? []);
  const audit = notes.flatMap(({ beside }) => beside.audit ?? []);
  return { ...(documents.length === 0 ? {} : { documents }), ...(audit.length === 0 ? {} : { audit }) };
}
