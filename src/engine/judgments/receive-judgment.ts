import { setImmediate as nextTurn } from "node:timers/promises";
import type { JudgmentEntry } from "../../formats/judgments/judgment-lines.ts";
import { agentsOf, namedAgent } from "../../protocol/agents/agent-of.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller, PrincipalKind } from "../../protocol/identity/identity.ts";
import type { ActorKind } from "../../protocol/judgments/annotation.ts";
import type { Judgment } from "../../protocol/judgments/judgment-file.ts";
import type { EventPlace } from "../../store/port/judgments.ts";
import type { Host } from "../host.ts";
import { identityOf, type RunIdentity } from "../runs/run-identity.ts";
import type { Arriving } from "./arrivals.ts";
import { checkAnnotation, type TargetEvent } from "./decide/annotate.ts";
import { recordOf } from "./judgment-record.ts";

/** The place of a judgment: on a run that the caller can see, or apart from all runs. */
type Place = { readonly run: RunIdentity } | "elsewhere" | { readonly problem: string };

/** Turns lines into judgments of the caller's tenant, with their texts as they came. Looks each run up once, however many lines speak of it. */
export function receiver(host: Host, caller: Caller): (entry: JudgmentEntry) => Promise<Arriving> {
  const places = new Map<string, Promise<Place>>();
  const findEvent = eventsTogether(host.store);
  const placeOf = (runId: string): Promise<Place> => {
    const known = places.get(runId) ?? findPlace(host, caller, runId);
    places.set(runId, known);
    return known;
  };

  return async (entry) => {
    if ("problem" in entry) return entry;
    const { line, judgment } = entry;
    // People are counted apart, so only people speak for them: an agent could be as many as it likes.
    if (judgment.actorKind === "person" && caller.kind !== "user") {
      return { line, problem: "it is a person's, and only a key of kind user brings those" };
    }
    const names = namesIn(judgment);
    if (host.scrubber.scrubText(names) !== names) {
      return { line, problem: "a name or an id in it looks like a secret; those are shown and kept, so remove it" };
    }
    const place = await placeOf(judgment.target.runId);
    if (place === "elsewhere") return { line, record: here(judgment, judgment.workspace, judgment.aboutNode) };
    if ("problem" in place) return { line, ...place };
    const { owner } = place.run;
    const about = await aboutRun(host, findEvent, place.run, judgment);
    if ("problem" in about) return { line, ...about };
    return { line, record: here(judgment, owner.workspace, about.nodeId), onRun: true };
  };

  function here(judgment: Judgment, workspace: string | undefined, node: string | undefined) {
    const aboutNode = judgment.target.nodeId ?? node;
    const arrival = defined({ tenant: caller.tenant, workspace, aboutNode, importedBy: caller.principal });
    return recordOf(judgment, arrival);
  }
}

/** All that a judgment is found by, which is never changed: one to a line, so that no two read as one. */
function namesIn({ target, actor, retraction, flag, ...judgment }: Judgment): string {
  const { workflowId, agentId, otherAgents = [], workspace, aboutNode } = judgment;
  const { supersedes, supersededBy, queueItemId } = judgment;
  const ids = [...Object.values(target), workflowId, agentId, ...otherAgents, workspace, aboutNode];
  const people = [actor.principalRef, retraction?.by, flag?.closedBy];
  return [...ids, ...people, supersedes, supersededBy, queueItemId].filter((one) => one !== undefined).join("\n");
}

type FindEvent = (runId: string, eventId: string) => Promise<EventPlace | undefined>;

/** Events of one run that are asked for in the same turn are looked for together: each search goes through the whole log. */
function eventsTogether(store: Pick<Host["store"], "findEvents">): FindEvent {
  const gathering = new Map<string, { readonly ids: string[]; readonly found: Promise<readonly EventPlace[]> }>();
  const begin = (runId: string) => {
    const ids: string[] = [];
    const found = nextTurn().then(() => {
      gathering.delete(runId);
      return store.findEvents(runId, ids);
    });
    const begun = { ids, found };
    gathering.set(runId, begun);
    return begun;
  };
  return async (runId, eventId) => {
    const { ids, found } = gathering.get(runId) ?? begin(runId);
    ids.push(eventId);
    return (await found).find((place) => place.eventId === eventId);
  };
}

async function findPlace({ store }: Host, caller: Caller, runId: string): Promise<Place> {
  const run = await store.readRun(caller, runId);
  if (run !== undefined) return { run: identityOf(run) };
  // What was deleted with its run must not come back through an old export.
  if ((await store.readTombstone(caller, runId)) !== undefined) return { problem: "its run was deleted here" };
  // One answer for runs of other workspaces and runs that do not exist: a key of a workspace learns nothing about the others.
  if (caller.workspace !== undefined) return { problem: "its run is not in the workspace of this key" };
  return "elsewhere";
}

/** Whether a judgment fits the run that is here, and the node that its event is of. */
async function aboutRun(
  { plans }: Host,
  findEvent: FindEvent,
  run: RunIdentity,
  { workflowId, agentId, signal, target, actorKind, confidence }: Judgment,
): Promise<{ readonly nodeId?: string } | { readonly problem: string }> {
  if (workflowId !== run.workflowId) return { problem: "its run is here, of another workflow" };
  if (!isAgentOf(run, agentId)) return { problem: "its run is here, of another agent" };
  const { runId, ...within } = target;
  const plan = await plans.byHash(run.workflowHash);
  const event = within.eventId === undefined ? undefined : await findEvent(runId, within.eventId);
  const said = defined({ signal, target: within, confidence });
  try {
    checkAnnotation(said, principalKind(actorKind), { event, hasNode: (nodeId) => plan.graph.node.has(nodeId) });
  } catch (error) {
    if (error instanceof AppError) return { problem: String(error.details["problem"]) };
    throw error;
  }
  return nodeOf(event);
}

/** A judgment without an agent may be from before the run called one, or before calls were counted. */
function isAgentOf(run: RunIdentity, agentId: string | undefined): boolean {
  return agentId === undefined ? namedAgent(run) === undefined : agentsOf(run).includes(agentId);
}

function principalKind(kind: ActorKind): PrincipalKind {
  return kind === "person" ? "user" : kind;
}

function nodeOf(event: TargetEvent | undefined): { readonly nodeId?: string } {
  return event?.nodeId === undefined ? {} : { nodeId: event.nodeId };
}
