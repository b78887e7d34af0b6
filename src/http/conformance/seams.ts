import { visibleRun } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { rolesOfPrincipal } from "../../engine/identity/grants.ts";
import type { Authorizer } from "../../engine/identity/roles.ts";
import { createRun } from "../../engine/runs/create-run.ts";
import { endsLog } from "../../engine/runs/event-pages.ts";
import { readSnapshot } from "../../engine/runs/read-run.ts";
import { RunSpans } from "../../engine/runs/run-spans.ts";
import { AppError } from "../../protocol/errors.ts";
import type { RunEventDoc } from "../../protocol/events.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import { EVERY_SCOPE } from "../../protocol/identity/scopes.ts";
import { callerOf, type Handler } from "../pipeline/handler.ts";

// What the conformance suite looks through. Every seam goes through the functions that the real routes use, as the
// caller it was sent by; none of them can do more than that caller may. (The seam of the governed gate decides a gate of
// its own making as the principal that it is told.)

const PAGE = 500;
const FILTERS = ["type", "nodeId", "correlationId", "causationId"] as const;
type EventFilter = Readonly<Partial<Record<(typeof FILTERS)[number], string>>>;

/** The whole log as it is stored. An unknown run has an empty one: that is how the suite finds out that this exists. */
export const seamListEventsRoute: Handler = async (context) => {
  const { host, params } = context;
  const { runId = "" } = params;
  const run = await host.store.readRun(callerOf(context), runId);
  const bodies = run === undefined ? [] : await matchingEvents(host, runId, context.query as EventFilter);
  return { status: 200, raw: `{"events":[${bodies.join(",")}]}`, contentType: "application/json" };
};

export const seamListSpansRoute: Handler = async (context) => {
  const { runId } = context.query as { runId: string };
  const run = await context.host.store.readRun(callerOf(context), runId);
  const bodies = run === undefined ? [] : await matchingEvents(context.host, runId, {});
  const seen = new RunSpans(run ?? { runId });
  for (const body of bodies) seen.see(JSON.parse(body) as RunEventDoc);
  return { status: 200, json: { spans: seen.spans } };
};

async function matchingEvents(host: Host, runId: string, filter: EventFilter): Promise<string[]> {
  const wanted = FILTERS.filter((name) => filter[name] !== undefined);
  const bodies: string[] = [];
  for (let from = 0; ; ) {
    const page = await host.store.readEvents(runId, from, PAGE);
    for (const { body } of page) if (wanted.length === 0 || matches(body, filter, wanted)) bodies.push(body);
    if (endsLog(page, PAGE)) return bodies;
    from += page.length;
  }
}

function matches(body: string, filter: EventFilter, wanted: readonly (keyof EventFilter)[]): boolean {
  const event = JSON.parse(body) as RunEventDoc & Readonly<Record<string, unknown>>;
  return wanted.every((name) => event[name] === filter[name]);
}

export function seamDecideRoute(authorizer: Pick<Authorizer, "authorize">): Handler {
  return async (context) => {
    const { principal, action } = context.body as { principal: string; action: string };
    const caller = callerOf(context);
    const roles = (await rolesOfPrincipal(context.host.store, caller, principal)) ?? [];
    // As if the principal had called with a key that allows everything: its roles alone decide.
    const asked: Caller = { ...caller, principal, roles, keyScopes: [EVERY_SCOPE] };
    try {
      await authorizer.authorize(asked, action);
      return { status: 200, json: { allowed: true } };
    } catch (error) {
      if (!(error instanceof AppError && error.code === "forbidden")) throw error;
      return { status: 200, json: { allowed: false, reason: error.message } };
    }
  };
}

export const seamOwnedRunRoute: Handler = async (context) => {
  const caller = callerOf(context);
  const { snapshot } = await readSnapshot(context.host, caller, await ownedRunId(context.host, caller));
  return { status: 200, json: snapshot };
};

/** The same look-up as every read, by a workspace that the run is not in. It throws `not_found`. */
export const seamCrossWorkspaceReadRoute: Handler = async (context) => {
  const { host } = context;
  const caller = callerOf(context);
  const runId = await ownedRunId(host, caller);
  const elsewhere = { tenant: caller.tenant, workspace: `${caller.workspace ?? ""}-elsewhere` };
  await visibleRun(host, elsewhere, runId);
  throw new Error(`run ${runId} was visible to workspace ${elsewhere.workspace}`);
};

async function ownedRunId(host: Host, caller: Caller): Promise<string> {
  const [newest] = await host.store.listRuns(caller, { limit: 1 });
  if (newest) return newest.runId;
  const [workflow] = await host.store.listWorkflows(caller.tenant, "", 1);
  if (!workflow) throw new AppError("not_found", { what: "workflow to start a run of" });
  const request = { workflowId: workflow.workflowId };
  return (await createRun(host, { caller, request, dedup: false, record: () => undefined })).runId;
}
