import type { ResolveInterruptResponse } from "../protocol/gate-api.ts";
import { gateRules, tallyOf } from "../protocol/gate-rules.ts";
import type { Caller } from "../protocol/identity.ts";
import type { Interrupt } from "../protocol/interrupt.ts";
import type { Run } from "../protocol/run.ts";
import { isRejection } from "./decide/governed-answer.ts";
import { resolveInterrupt as decide, findInterrupt, type ResolveInterrupt } from "./decide/resolve-interrupt.ts";
import { execute, type Recorder, visibleRun } from "./execute.ts";
import { evidenceFor } from "./gate-evidence.ts";
import type { Host } from "./host.ts";
import type { Claims } from "./interrupt-token.ts";
import { judgeOf, TOKEN_HOLDER } from "./judge.ts";

export interface Resolving {
  readonly runId: string;
  readonly of: ResolveInterrupt["of"];
  readonly value: unknown;
  readonly record: Recorder<ResolveInterruptResponse>;
  readonly seen?: Run;
}

/** Answers an interrupt as the holder of a key. */
export async function resolveInterrupt(
  host: Host,
  { caller, runId, of, value, record, ...before }: Resolving & { readonly caller: Caller },
): Promise<ResolveInterruptResponse> {
  const seen = before.seen ?? (await visibleRun(host, caller, runId));
  const asked = askedOf(seen, of);
  const judge = await judgeOf(host, caller, seen.owner);
  const mayRelay = judge.grants("approvals:relay");
  const answer = host.scrubber.scrubValue(value);
  return execute(host, {
    caller,
    runId,
    // Somebody who says no needs nothing to be proven.
    evidence: async (run) => (isRejection(value) ? undefined : evidenceFor(host, run, findInterrupt(run, asked))),
    decide: (run, _, evidence) => {
      const command = { of: asked, value: answer, judge, mayRelay, nowMs: host.nowMs() };
      return decide(run, { ...command, ...(evidence === undefined ? {} : { evidence }) });
    },
    result: (run) => resolved(run, asked),
    record,
    seen,
    goesOn: true,
  });
}

/** The interrupt that was meant, whatever the run does meanwhile: nobody votes on what they were not asked. */
function askedOf(run: Run, of: ResolveInterrupt["of"]): ResolveInterrupt["of"] {
  const interrupt = findInterrupt(run, of);
  return interrupt === undefined ? of : { interruptId: interrupt.interruptId };
}

/** Answers the one interrupt that a token is for. The token is all that is known of who does. */
export async function resolveByToken(
  host: Host,
  { runId, interruptId }: Claims,
  { tenant, value, record }: Pick<Resolving, "value" | "record"> & { readonly tenant: string },
): Promise<ResolveInterruptResponse> {
  const caller: Caller = {
    tenant,
    principal: "token",
    kind: "agent",
    keyId: "token",
    roles: [],
    groups: [],
    keyScopes: [],
  };
  const of = { interruptId };
  const answer = host.scrubber.scrubValue(value);
  return execute(host, {
    caller,
    runId,
    decide: (run) => decide(run, { of, value: answer, judge: TOKEN_HOLDER, mayRelay: false, nowMs: host.nowMs() }),
    result: (run) => resolved(run, of),
    record,
    goesOn: true,
  });
}

function resolved(run: Run, of: ResolveInterrupt["of"]): ResolveInterruptResponse {
  const interrupt = findInterrupt(run, of) as Interrupt;
  const { interruptId, nodeId, status, outcome } = interrupt;
  return {
    runId: run.runId,
    nodeId,
    interruptId,
    status: run.status,
    resolved: status !== "open",
    ...(outcome === undefined ? {} : { outcome }),
    ...(interrupt.kind === "approval" ? { tally: tallyOf(interrupt, gateRules(interrupt.data)) } : {}),
  };
}
