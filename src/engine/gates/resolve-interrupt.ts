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
import { isRejection } from "./decide/gate-answer.ts";
import { resolveInterrupt as decide, findInterrupt, type ResolveInterrupt } from "./decide/resolve-interrupt.ts";
import type { Binding, Relay } from "./decide/vote.ts";
import { evidenceFor } from "./gate-evidence.ts";
import type { Claims } from "./interrupt-token.ts";
import { receivedAnswer, withSecrets } from "./seal-answer.ts";
import { namedVoter, relayFor, TOKEN_HOLDER, voterOf } from "./voter.ts";

interface Resolving {
  readonly runId: string;
  readonly of: ResolveInterrupt["of"];
  readonly value: unknown;
  /** The interrupt, revision and artifact that the answer says it is for. */
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
    // A rejection needs no evidence.
    evidence: async (run) => (isRejection(value) ? undefined : evidenceFor(host, run, findInterrupt(run, asked))),
    decide: (run, { sensitivity }, evidence) => {
      const secrets = secretsOf(run, sensitivity);
      const { value } = answer;
      const command = { of: asked, value, answerer, makersOfStarters, bound, secrets, nowMs: host.nowMs() };
      const ruling = decide(run, { ...command, ...defined({ evidence, relay }) });
      return { ...ruling, events: withSecrets(ruling.events, answer.secrets) };
    },
    result: (run) => resolved(run, asked, voter),
    record,
    seen,
    goesOn: true,
  });
}

/**
 * The caller as a voter, and the voter it names if it may relay votes. The makers of the caller's key are looked up only where several votes
 * are counted, a vote is relayed, or voters must be independent.
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

/** Makers of the run's starters, where they may not approve it. Starters that join later only exclude more voters. */
async function excludedMakers({ store }: Host, run: Run, interrupt: Interrupt | undefined): Promise<readonly string[]> {
  if (interrupt?.kind !== "approval" || !excludesMakersOfStarters(gateRules(interrupt.data))) return [];
  return makersOfPrincipals(store, run.owner.tenant, startersOf(run));
}

/** The interrupt that the caller has seen, by id: the run may raise another one at the same node meanwhile. */
function askedOf(run: Run, of: ResolveInterrupt["of"]): ResolveInterrupt["of"] {
  const interrupt = findInterrupt(run, of);
  return interrupt === undefined ? of : { interruptId: interrupt.interruptId };
}

function isApproval(run: Run, of: ResolveInterrupt["of"]): boolean {
  return findInterrupt(run, of)?.kind === "approval";
}

/** Answers the interrupt of a token. Of the caller only the token is known. */
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
