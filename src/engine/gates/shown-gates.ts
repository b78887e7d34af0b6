import { shownDigest } from "../../formats/gates/gate-digest.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { InterruptView } from "../../protocol/gates/api.ts";
import { tokenAllowed } from "../../protocol/gates/gate-rules.ts";
import { type Interrupt, revisionOf } from "../../protocol/gates/interrupt.ts";
import { interruptView } from "../../protocol/gates/interrupt-view.ts";
import type { Caller, Visibility } from "../../protocol/identity/identity.ts";
import { own } from "../../protocol/own.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { type RunSnapshot, type Sensitivity, secretsOf, snapshotOf } from "../../protocol/runs/snapshot.ts";
import { visibleRun } from "../execute.ts";
import type { Host } from "../host.ts";
import { isOverdue } from "./decide/close-interrupt.ts";
import { overdue, requireOpen } from "./decide/resolve-interrupt.ts";
import type { Claims } from "./interrupt-token.ts";

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

const LONGEST_STEP_MS = 60_000;

/** Tokens that are read within one such span are the same, so reading again does not make another snapshot. */
export function tokenStepMs({ ttlMs }: Pick<Host["tokens"], "ttlMs">): number {
  return Math.min(LONGEST_STEP_MS, Math.floor(ttlMs / 2));
}

/** When a token of this interrupt that is given out now expires: after the usual time, or at the deadline if that is sooner. */
export function tokenEndMs(host: Pick<Host, "tokens" | "nowMs">, { deadlineMs }: Interrupt): number {
  const stepMs = tokenStepMs(host.tokens);
  const usual = Math.floor(host.nowMs() / stepMs) * stepMs + host.tokens.ttlMs;
  return Math.min(deadlineMs ?? usual, usual);
}

export function tokenFor(host: Pick<Host, "tokens" | "nowMs">, runId: string, interrupt: Interrupt): string {
  const { nodeId, interruptId } = interrupt;
  const expiresAt = new Date(tokenEndMs(host, interrupt)).toISOString();
  const revision = revisionOf(interrupt);
  return host.tokens.mint({ runId, nodeId, interruptId, revision, expiresAt, intent: "resolve" });
}

/** A snapshot for a caller who may answer: with the token of each interrupt that a token can answer. */
export function withTokens(host: Host, run: Run, snapshot: RunSnapshot): RunSnapshot {
  if (snapshot.interrupts === undefined) return snapshot;
  const interrupts = snapshot.interrupts.map((view) => linked(host, run, view));
  const [interrupt] = interrupts;
  return { ...snapshot, ...defined({ interrupt }), interrupts };
}

function linked(host: Host, run: Run, view: InterruptView): InterruptView {
  const interrupt = own(run.interrupts, view.interruptId);
  if (interrupt === undefined || !tokenAllowed(interrupt)) return view;
  const interruptToken = tokenFor(host, run.runId, interrupt);
  const expiresAt = new Date(tokenEndMs(host, interrupt)).toISOString();
  return { ...view, expiresAt, interruptToken, callbackUrl: `/v1/interrupts/${interruptToken}` };
}

/** The interrupt of a token, while it is open. Throws how it ended otherwise. */
export async function readByToken(
  host: Host,
  claims: Claims,
  room: Pick<Visibility, "beforeLargeRead"> = {},
): Promise<{ tenant: string; view: InterruptView }> {
  const { runId, nodeId, interruptId, expiresAt } = claims;
  const tenant = await host.store.tenantOf(runId);
  const run = tenant === undefined ? undefined : await host.store.readRun({ tenant, ...room }, runId);
  const interrupt = run && own(run.interrupts, interruptId);
  if (tenant === undefined || run === undefined || interrupt?.nodeId !== nodeId) {
    throw new AppError("interrupt_not_found");
  }
  requireOpen(run, interrupt, true);
  if (isOverdue(interrupt, host.nowMs())) {
    throw new AppError("interrupt_expired", { nodeId, expiredAt: new Date(interrupt.deadlineMs ?? 0).toISOString() });
  }
  if (!tokenAllowed(interrupt)) throw new AppError("auth_elevation_required", { runId, nodeId });
  const { sensitivity } = await host.plans.byHash(run.workflowHash);
  return { tenant, view: { ...shownInterrupt(run, interrupt, sensitivity), expiresAt } };
}

/** An open interrupt of a run that the caller can see. Throws how it ended otherwise. */
export async function readInterrupt(host: Host, caller: Caller, interruptId: string): Promise<InterruptView> {
  const row = await host.store.readInterrupt(caller, interruptId);
  const run = row && (await visibleRun(host, caller, row.runId));
  const interrupt = run && own(run.interrupts, interruptId);
  if (run === undefined || interrupt === undefined) throw new AppError("not_found", { what: "interrupt", interruptId });
  requireOpen(run, interrupt, false);
  if (isOverdue(interrupt, host.nowMs())) throw overdue(interrupt, false);
  const { sensitivity } = await host.plans.byHash(run.workflowHash);
  return shownInterrupt(run, interrupt, sensitivity);
}
