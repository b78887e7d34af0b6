import { shownDigest } from "../../formats/gates/gate-digest.ts";
import { defined } from "../../protocol/defined.ts";
import type { InterruptView } from "../../protocol/gates/api.ts";
import type { Interrupt } from "../../protocol/gates/interrupt.ts";
import { interruptView } from "../../protocol/gates/interrupt-view.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { type RunSnapshot, type Sensitivity, secretsOf, snapshotOf } from "../../protocol/runs/snapshot.ts";

/** A run as every surface serves it, with the digest that a vote on each open interrupt sends. */
export function shownRun(run: Run, sensitivity: Sensitivity): RunSnapshot {
  const snapshot = snapshotOf(run, sensitivity);
  if (snapshot.interrupts === undefined) return snapshot;
  const interrupts = snapshot.interrupts.map(withDigest);
  const [interrupt] = interrupts;
  return { ...snapshot, ...defined({ interrupt }), interrupts };
}

export function shownInterrupt(run: Run, interrupt: Interrupt, sensitivity: Sensitivity): InterruptView {
  return withDigest(interruptView(run.runId, interrupt, secretsOf(run, sensitivity)));
}

function withDigest(view: InterruptView): InterruptView {
  return { ...view, artifactDigest: shownDigest(view) };
}
