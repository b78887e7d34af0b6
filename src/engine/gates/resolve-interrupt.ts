import { defined } from "../../protocol/defined.ts";
import type { ResolveInterruptResponse } from "../../protocol/gates/api.ts";
import { excludesMakersOfStarters, gateRules, tallyOf, type Voter } from "../../protocol/gates/gate-rules.ts";
import type { Interrupt } from "../../protocol/gates/interrupt.ts";
import { notCountedIn } from "../../protocol/gates/interrupt-view.ts";
import type { Caller, Visibility } from "../../protocol/identity/identity.ts";
import { startersOf } from "../../protocol/runs/forked-from.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { secretsOf } from "../../protocol/runs/snapshot.ts";
import { execute, type Recorder, visibleRun } from "../execute.ts";
import type { Host } from "../host.ts";
import { makersOf, makersOfPrincipals } from "../identity/key-origin.ts";
import type { Binding } from "./decide/bound-vote.ts";
import { isRejection } from "./decide/governed-answer.ts";
import { resolveInterrupt as decide, findInterrupt, type ResolveInterrupt } from "./decide/resolve-interrupt.ts";
import type { Relay } from "./decide/vote-origin.ts";
import { evidenceFor } from "./gate-evidence.ts";
import type { Claims } from "./interrupt-token.ts";
import { namedVoter, relayFor } from "./relayed-voter.ts";
import { receivedAnswer, withSecrets } from "./seal-answer.ts";
import { TOKEN_HOLDER, voterOf } from "./voter.ts";

export interface Resolving {
  readonly runId: string;
  readonly of: ResolveInterrupt["of"];
  readonly value: unknown;
  /** What the answer was given for, as far as it says so. */
  readonly bound?: Binding;
  readonly record: Recorder<ResolveInterruptResponse>;
  readonly seen?: Run;
}

/** Answers an interrupt as the holder of a key. */
export async function resolveInterrupt(
  host: Host,
  { caller, runId, of, value, bound = {}, record, ...before }: Resolving & { readonly caller: Caller },
): Promise<ResolveInterruptResponse> {
  const seen = before.seen ?? (await visibleRun(host, caller, runId));
  const asked = askedOf(seen, of);
  const [{ answerer, relay }, makersOfStarters] = await Promise.all([
    answererOf(host, caller, { run: seen, asked, value }),
    excludedMakers(host, seen, findInterrupt(seen, asked)),
  ]);
  const voter = (relay && namedVoter(value, caller)) ?? caller.principal;
  const answer = await receivedAnswer(host.scrubber, value, { isApproval: isApproval(seen, asked) });
  return execute(host, {
    caller,
    runId,
    // Somebody who says no needs nothing to be proven.
    evidence: async (run) => (isRejection(value) ? undefined : evidenceFor(host, run, findInterrupt(run, asked))),
    decide: (run, { sensitivity }, evidence) => {
      const secrets = secretsOf(run, sensitivity);
      const command = {
        of: asked,
        value: answer.value,
        answerer,
        makersOfStarters,
        bound,
        secrets,
        nowMs: host.nowMs(),
      };
      const proven = defined({ evidence });
      const ruling = decide(run, { ...command, ...proven, ...defined({ relay }) });
      return { ...ruling, events: withSecrets(ruling.events, answer.secrets) };
    },
    result: (run) => resolved(run, asked, voter),
    record,
    seen,
    goesOn: true,
  });
}

/**
 * The caller as the gate sees it, and the voter it names where it may relay. Who made the caller's key matters only where
 * several votes are counted, a vote is relayed, or voters must be independent; other gates are spared the look-up.
 */
async function answererOf(
  host: Host,
  caller: Caller,
  { run, asked, value }: { run: Run; asked: ResolveInterrupt["of"]; value: unknown },
): Promise<{ answerer: Voter; relay?: Relay }> {
  const named = namedVoter(value, caller);
  const interrupt = findInterrupt(run, asked);
  const single = interrupt !== undefined && named === undefined && !asksForMakers(interrupt);
  const [answerer, makers] = await Promise.all([
    voterOf(host, caller, run.owner),
    single ? [] : makersOf(host.store, caller),
  ]);
  const known = { ...answerer, makers };
  if (named === undefined || !answerer.grants("approvals:relay")) return { answerer: known };
  return { answerer: known, relay: await relayFor(host, { ...caller, makers }, run.owner, named) };
}

function asksForMakers({ kind, data }: Interrupt): boolean {
  if (kind !== "approval") return false;
  const { required, requireIndependentVoters } = gateRules(data);
  return required > 1 || requireIndependentVoters;
}

/** Makers of those behind the run, where they may not approve it. Starters that join later only exclude more voters. */
async function excludedMakers({ store }: Host, run: Run, interrupt: Interrupt | undefined): Promise<readonly string[]> {
  if (interrupt?.kind !== "approval" || !excludesMakersOfStarters(gateRules(interrupt.data))) return [];
  return makersOfPrincipals(store, run.owner.tenant, startersOf(run));
}

/** The interrupt that was meant, whatever the run does meanwhile: nobody votes on what they were not asked. */
function askedOf(run: Run, of: ResolveInterrupt["of"]): ResolveInterrupt["of"] {
  const interrupt = findInterrupt(run, of);
  return interrupt === undefined ? of : { interruptId: interrupt.interruptId };
}

function isApproval(run: Run, of: ResolveInterrupt["of"]): boolean {
  return findInterrupt(run, of)?.kind === "approval";
}

/** Answers the one interrupt that a token is for. The token is all that is known of who does. */
export async function resolveByToken(
  host: Host,
  { runId, interruptId, revision }: Claims,
  {
    tenant,
    value,
    bound: given = {},
    record,
    ...room
  }: Pick<Resolving, "value" | "bound" | "record"> & Pick<Visibility, "tenant" | "beforeLargeRead">,
): Promise<ResolveInterruptResponse> {
  const caller: Caller = {
    ...room,
    tenant,
    principal: "token",
    kind: "agent",
    keyId: "token",
    roles: [],
    groups: [],
    keyScopes: [],
  };
  const of = { interruptId };
  const bound = { interruptId, ...(revision === undefined ? {} : { revision, byLink: true as const }), ...given };
  const seen = await visibleRun(host, caller, runId);
  const answer = await receivedAnswer(host.scrubber, value, { isApproval: isApproval(seen, of) });
  return execute(host, {
    caller,
    runId,
    decide: (run, { sensitivity }) => {
      const secrets = secretsOf(run, sensitivity);
      const command = { of, value: answer.value, answerer: TOKEN_HOLDER, bound, secrets, nowMs: host.nowMs() };
      const ruling = decide(run, command);
      return { ...ruling, events: withSecrets(ruling.events, answer.secrets) };
    },
    seen,
    result: (run) => resolved(run, of, TOKEN_HOLDER.principal),
    record,
    goesOn: true,
  });
}

function resolved(run: Run, of: ResolveInterrupt["of"], voter: string): ResolveInterruptResponse {
  const interrupt = findInterrupt(run, of) as Interrupt;
  const { interruptId, nodeId, status, outcome } = interrupt;
  const vote = interrupt.votes.find((one) => one.voter === voter);
  const notCounted = vote && notCountedIn(interrupt).get(vote);
  return {
    runId: run.runId,
    nodeId,
    interruptId,
    status: run.status,
    resolved: status !== "open",
    ...defined({ outcome }),
    ...(interrupt.kind === "approval" ? { tally: tallyOf(interrupt, gateRules(interrupt.data)) } : {}),
    ...defined({ notCounted }),
  };
}
