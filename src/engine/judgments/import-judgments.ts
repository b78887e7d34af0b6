import { setImmediate as nextTurn } from "node:timers/promises";
import { type JudgmentEntry, JudgmentReader } from "../../formats/judgments/judgment-lines.ts";
import { agentsOf, namedAgent } from "../../protocol/agents/agent-of.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { ImportRequest, ImportResponse, Judgment } from "../../protocol/judgments/judgment-file.ts";
import type { AnnotationRecord, EventPlace } from "../../store/port/judgments.ts";
import { type ApiRequest, auditDraft, refused } from "../execute.ts";
import type { Host } from "../host.ts";
import { identityOf, type RunIdentity } from "../runs/run-identity.ts";
import { cleanInTurns } from "../secrets/scrub-in-turns.ts";
import { serializeFor } from "../shared/serialize.ts";
import { recordOf } from "./annotation-view.ts";
import { type Arrivals, type Arriving, arrivalsOf, cleanRecord } from "./arrivals.ts";
import { checkAnnotation } from "./decide/annotate.ts";

/** Attempts in case the same judgments are changed meanwhile. */
const ATTEMPTS_MAX = 5;

/** Imports the lines of an export in one commit. Lines that are refused do not stop the others. */
export async function importJudgments(
  host: Host,
  { caller, request, record }: ApiRequest<ImportRequest, ImportResponse>,
): Promise<ImportResponse> {
  const entries = entriesOf(request);
  // One after the other: each holds what its lines name here.
  return serializeFor(host.store, `imports of judgments of ${caller.tenant}`, () => {
    return importEntries(host, { caller, request, record }, entries);
  });
}

async function importEntries(
  host: Host,
  { caller, request, record }: ApiRequest<ImportRequest, ImportResponse>,
  entries: readonly JudgmentEntry[],
): Promise<ImportResponse> {
  for (let attempt = 1; ; attempt++) {
    const { answer, writes } = await arriving(host, caller, entries);
    if (request.dryRun || writes.length === 0) return answer;
    const outcome = record(answer);
    const { imported, updated } = answer;
    const annotationIds = writes.map(({ annotation }) => annotation.annotationId);
    const details = { count: writes.length, imported, updated, annotationIds };
    const committed = await host.store.commit({
      tenant: caller.tenant,
      annotations: writes,
      audit: [auditDraft(caller, host.nowMs(), "judgments", { action: "judgments.import", details })],
      ...defined({ idempotency: outcome }),
    });
    if (committed.ok) return answer;
    // A judgment was changed or a run deleted: the next attempt reads them again.
    const { refusal } = committed;
    const moved = refusal.type === "annotation" || refusal.type === "version";
    if (!moved || attempt === ATTEMPTS_MAX) throw refused(refusal);
  }
}

/** Throws for lines that are not of a readable export. */
function entriesOf({ lines, firstLine = 2 }: ImportRequest): JudgmentEntry[] {
  const reader = new JudgmentReader();
  return lines.flatMap((value, i) => reader.take(value, i === 0 ? 1 : firstLine + i - 1) ?? []);
}

/** Lines that are read in one step; other work gets a turn after each step. */
const AT_ONCE = 100;

async function arriving(host: Host, caller: Caller, entries: readonly JudgmentEntry[]): Promise<Arrivals> {
  const receive = receiver(host, caller);
  const received: Arriving[] = [];
  for (let i = 0; i < entries.length; i += AT_ONCE) {
    const some = await Promise.all(entries.slice(i, i + AT_ONCE).map(receive));
    received.push(...(await cleanInTurns(host.scrubber, (scrubText) => cleanRecords(some, scrubText))));
    await nextTurn();
  }
  const ids = received.flatMap((one) => ("problem" in one ? [] : [one.record.annotationId, one.record.supersedes]));
  const known = [...new Set(ids)].filter((id) => id !== undefined);
  const stored = known.length === 0 ? [] : await storedOf(host, caller, known);
  // biome-ignore lint/correctness/useYield: merging takes one step
  return cleanInTurns(host.scrubber, function* (scrubText) {
    return arrivalsOf(received, stored, scrubText);
  });
}

/** Bytes of judgments that are here already, for one request: short lines may name long ones. */
const STORED_BYTES_MAX = 32_000_000;

async function storedOf({ store }: Host, { tenant }: Caller, ids: readonly string[]): Promise<AnnotationRecord[]> {
  if ((await store.annotationBytes(tenant, ids)) <= STORED_BYTES_MAX) return store.annotationsById(tenant, ids);
  throw validationError(
    `the judgments here that these lines name have more than ${STORED_BYTES_MAX} bytes together; import fewer lines at a time`,
  );
}

function* cleanRecords(
  received: readonly Arriving[],
  scrubText: (text: string) => string,
): Generator<void, Arriving[]> {
  const clean: Arriving[] = [];
  for (const one of received) {
    clean.push("problem" in one ? one : { ...one, record: cleanRecord(one.record, scrubText) });
    yield;
  }
  return clean;
}

/** The place of a judgment: on a run that the caller can see, or apart from all runs. */
type Place = { readonly run: RunIdentity } | "elsewhere" | { readonly problem: string };

/** Turns lines into judgments of the caller's tenant, with their original texts. Each run is read once for all lines about it. */
function receiver(host: Host, caller: Caller): (entry: JudgmentEntry) => Promise<Arriving> {
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
    // Judgments of people are counted separately, so only people import them: an agent could appear as many people.
    if (judgment.actorKind === "person" && caller.kind !== "user") {
      return { line, problem: "it is a person's, and only a key of kind user imports those" };
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

/** The names and ids of a judgment, which are never scrubbed, one to a line so that no two read as one. */
function namesIn({ target, actor, retraction, flag, ...judgment }: Judgment): string {
  const { workflowId, agentId, otherAgents = [], workspace, aboutNode } = judgment;
  const { supersedes, supersededBy, queueItemId } = judgment;
  const ids = [...Object.values(target), workflowId, agentId, ...otherAgents, workspace, aboutNode];
  const people = [actor.principalRef, retraction?.by, flag?.closedBy];
  return [...ids, ...people, supersedes, supersededBy, queueItemId].filter((one) => one !== undefined).join("\n");
}

type FindEvent = (runId: string, eventId: string) => Promise<EventPlace | undefined>;

/** Finds events of one run that are requested in the same turn together: each search reads the whole log. */
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
  // Judgments that were deleted with their run must not return through an old export.
  if ((await store.readTombstone(caller, runId)) !== undefined) return { problem: "its run was deleted here" };
  // The same for runs of other workspaces and unknown runs, so that a key of a workspace learns nothing about other workspaces.
  if (caller.workspace !== undefined) return { problem: "its run is not in the workspace of this key" };
  return "elsewhere";
}

/** Checks a judgment against its run, and returns the node of its event. */
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
  const content = defined({ signal, target: within, confidence });
  const by = actorKind === "person" ? "user" : actorKind;
  try {
    checkAnnotation(content, by, { event, hasNode: (nodeId) => plan.graph.node.has(nodeId) });
  } catch (error) {
    if (error instanceof AppError) return { problem: String(error.details["problem"]) };
    throw error;
  }
  return defined({ nodeId: event?.nodeId });
}

/** Whether a run had the agent of a judgment. A judgment without one may be older than the first call of an agent, or than the count of calls. */
function isAgentOf(run: RunIdentity, agentId: string | undefined): boolean {
  return agentId === undefined ? namedAgent(run) === undefined : agentsOf(run).includes(agentId);
}
