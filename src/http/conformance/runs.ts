import { visibleRun } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { rolesOfPrincipal } from "../../engine/identity/grants.ts";
import { createRun } from "../../engine/runs/create-run.ts";
import { debugBundle } from "../../engine/runs/debug-bundle.ts";
import { readSnapshot } from "../../engine/runs/read-run.ts";
import { RunSpans } from "../../engine/runs/run-trace.ts";
import { AppError } from "../../protocol/errors.ts";
import type { RunEventDoc } from "../../protocol/events.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import { EVERY_SCOPE } from "../../protocol/identity/scopes.ts";
import type { OPERATIONS } from "../../protocol/operations.ts";
import { isLastPage } from "../../store/port/large-rows.ts";
import type { HttpDeps } from "../pipeline/deps.ts";
import type { HandlersOf } from "../pipeline/handler.ts";
import { ok } from "../pipeline/reply.ts";

const PAGE = 500;
const FILTERS = ["type", "nodeId", "correlationId", "causationId"] as const;
type EventFilter = Readonly<Partial<Record<(typeof FILTERS)[number], string>>>;

type RunConformance = Pick<
  typeof OPERATIONS,
  | "conformanceListEvents"
  | "conformanceListSpans"
  | "conformanceDecide"
  | "conformanceOwnedRun"
  | "conformanceCrossWorkspaceRead"
  | "conformanceExportBundle"
>;

/** Conformance routes about runs and who may read them. */
export function runConformanceRoutes({ authorizer, version }: HttpDeps): HandlersOf<RunConformance> {
  return {
    // The whole log as it is stored. An unknown run has an empty one: the suite finds out by it that the route is served.
    conformanceListEvents: async ({ host, caller, params: { runId }, query }) => {
      const run = await host.store.readRun(caller, runId);
      const bodies = run === undefined ? [] : await matchingEvents(host, runId, query);
      return { status: 200, raw: `{"events":[${bodies.join(",")}]}`, contentType: "application/json" };
    },
    conformanceListSpans: async ({ host, caller, query: { runId } }) => {
      const run = await host.store.readRun(caller, runId);
      const bodies = run === undefined ? [] : await matchingEvents(host, runId, {});
      const seen = new RunSpans(run ?? { runId });
      for (const body of bodies) seen.see(JSON.parse(body) as RunEventDoc);
      return ok({ spans: seen.spans });
    },
    conformanceDecide: async ({ host, caller, body: { principal, action } }) => {
      const roles = (await rolesOfPrincipal(host.store, caller, principal)) ?? [];
      // As if the principal had called with a key that allows everything: its roles alone decide.
      const asked: Caller = { ...caller, principal, roles, keyScopes: [EVERY_SCOPE] };
      try {
        await authorizer.authorize(asked, action);
        return ok({ allowed: true });
      } catch (error) {
        if (!(error instanceof AppError && error.code === "forbidden")) throw error;
        return ok({ allowed: false, reason: error.message });
      }
    },
    conformanceOwnedRun: async ({ host, caller }) =>
      ok((await readSnapshot(host, caller, await ownedRunId(host, caller))).snapshot),
    // The same look-up as every read, by a workspace that the run is not in. It throws `not_found`.
    conformanceCrossWorkspaceRead: async ({ host, caller }) => {
      const runId = await ownedRunId(host, caller);
      const elsewhere = { tenant: caller.tenant, workspace: `${caller.workspace ?? ""}-elsewhere` };
      await visibleRun(host, elsewhere, runId);
      throw new Error(`run ${runId} was visible to workspace ${elsewhere.workspace}`);
    },
    // Where bundles are not served, this route serves none either.
    conformanceExportBundle: async ({ host, caller, body }) => {
      if (!host.capabilities.has("debugBundle")) throw new AppError("not_found", { what: "debug bundle" });
      const raw = await debugBundle(host, await visibleRun(host, caller, body.runId), version);
      return { status: 200, raw, contentType: "application/json", headers: { "cache-control": "no-store" } };
    },
  };
}

async function matchingEvents(host: Host, runId: string, filter: EventFilter): Promise<string[]> {
  const wanted = FILTERS.filter((name) => filter[name] !== undefined);
  const bodies: string[] = [];
  for (let from = 0; ; ) {
    const page = await host.store.readEvents(runId, from, PAGE);
    for (const { body } of page) if (wanted.length === 0 || matches(body, filter, wanted)) bodies.push(body);
    if (isLastPage(page, PAGE)) return bodies;
    from += page.length;
  }
}

function matches(body: string, filter: EventFilter, wanted: readonly (keyof EventFilter)[]): boolean {
  const event = JSON.parse(body) as RunEventDoc & Readonly<Record<string, unknown>>;
  return wanted.every((name) => event[name] === filter[name]);
}

async function ownedRunId(host: Host, caller: Caller): Promise<string> {
  const [newest] = await host.store.listRuns(caller, { limit: 1 });
  if (newest) return newest.runId;
  const [workflow] = await host.store.listWorkflows(caller.tenant, "", 1);
  if (!workflow) throw new AppError("not_found", { what: "workflow to start a run of" });
  const request = { workflowId: workflow.workflowId };
  return (await createRun(host, { caller, request, dedup: false, record: () => undefined })).runId;
}
