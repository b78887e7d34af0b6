import { shownDigest } from "../formats/gate-digest.ts";
import type { InterruptView } from "../protocol/gate-api.ts";
import type { Interrupt } from "../protocol/interrupt.ts";
import { interruptView } from "../protocol/interrupt-view.ts";
import type { Run } from "../protocol/run.ts";
import { type RunSnapshot, type Sensitivity, secretsOf, snapshotOf } from "../protocol/snapshot.ts";

/** A run as every surface serves it, with the digest that a vote on each open interrupt sends. */
export function shownRun(run: Run, sensitivity: Sensitivity): RunSnapshot {
  const snapshot = snapshotOf(run, sensitivity);
  if (snapshot.interrupts === undefined) return snapshot;
  const interrupts = snapshot.interrupts.map(withDigest);
  const [interrupt] = interrupts;
  return { ...snapshot, ...(interrupt === undefined ? {} : { interrupt }), interrupts };
}

export function shownInterrupt(run: Run, interrupt: Interrupt, sensitivity: Sensitivity): InterruptView {
  return withDigest(interruptView(run.runId, interrupt, secretsOf(run, sensitivity)));
}

function withDigest(view: InterruptView): InterruptView {
  return { ...view, artifactDigest: shownDigest(view) };
}
