import type { Recorder } from "../../engine/execute.ts";
import { type SentEvent, sendExternalEvent } from "../../engine/gates/external-events.ts";
import { gateSummary } from "../../engine/gates/gate-summary.ts";
import { decideInbox, readInbox } from "../../engine/gates/inbox.ts";
import { resolveByToken, resolveInterrupt } from "../../engine/gates/resolve-interrupt.ts";
import { readByToken, readInterrupt } from "../../engine/gates/shown-gates.ts";
import type { Authorizer } from "../../engine/identity/roles.ts";
import { readFlagged } from "../../engine/judgments/list-annotations.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { ResolveInterruptResponse } from "../../protocol/gates/api.ts";
import { EVENT_REPLAYED } from "../../protocol/gates/api.ts";
import type { GATE_OPERATIONS } from "../../protocol/gates/operations.ts";
import { type HandlerOf, type HandlersOf, recordedReply } from "../pipeline/handler.ts";
import { checkedKey, digestOf, oncePerKey, outcomeOf } from "../pipeline/idempotency.ts";
import { ok, type Reply } from "../pipeline/reply.ts";
import { jsonPages, pagesOf, sendList } from "../pipeline/send-list.ts";

type GateOperations = typeof GATE_OPERATIONS;

/** All but the stream of the inbox, which is in `events.ts`. */
export function gateRoutes(authorizer: Pick<Authorizer, "authorize">): HandlersOf<Omit<GateOperations, "streamInbox">> {
  return {
    resolveInterrupt: (context) =>
      recordedReply(context, ok, (record) => {
        const { host, caller, params, body, query: bound, run: seen } = context;
        const { runId, nodeId } = params;
        return resolveInterrupt(host, { caller, runId, of: { nodeId }, value: body.resumeValue, bound, record, seen });
      }),
    readInterrupt: async ({ host, caller, params }) => ok(await readInterrupt(host, caller, params.interruptId)),
    getInterruptByToken: async ({ host, params, room }) => {
      return ok((await readByToken(host, host.tokens.read(params.token), room)).view);
    },
    resolveInterruptByToken,
    sendExternalEvent: (context) =>
      recordedReply(context, sent, (record) => {
        return sendExternalEvent(context.host, { caller: context.caller, request: context.body, record });
      }),
    // Deciding gates and reading judgments take different scopes.
    listInbox: async ({ host, caller, query: { flagged, flaggedCursor, ...query } }) => {
      if (flagged !== "true") return ok(await readInbox(host, caller, query));
      await authorizer.authorize(caller, "runs:read");
      const flags = { ...query, ...defined({ flaggedCursor }) };
      const [gates, runs] = await Promise.all([readInbox(host, caller, query), readFlagged(host, caller, flags)]);
      return ok({ ...gates, ...runs });
    },
    decideInbox: async ({ host, caller, body }) => ok(await decideInbox(host, caller, body)),
    getGateSummary: async (context) => {
      const { total, groups } = await gateSummary(context.host, context.caller, context.query);
      const before = `{"total":${JSON.stringify(total)},"groups":[`;
      return sendList(context, { before, items: jsonPages(pagesOf(groups)), after: "]}" });
    },
  };
}

/**
 * Whether the interrupt is still open is decided with the answer, in one step; here only the tenant is looked up. There is no
 * caller, so an Idempotency-Key belongs to the interrupt.
 */
const resolveInterruptByToken: HandlerOf<GateOperations["resolveInterruptByToken"]> = async (context) => {
  const { host, params, body, query: bound, headers, room } = context;
  const claims = host.tokens.read(params.token);
  const { runId, interruptId, intent } = claims;
  if (intent !== "resolve") {
    throw new AppError("forbidden", { problem: "this token is for looking, not for answering", intent });
  }
  const tenant = await host.store.tenantOf(runId);
  if (tenant === undefined) throw new AppError("interrupt_not_found");
  const answer = (record: Recorder<ResolveInterruptResponse>) =>
    resolveByToken(host, claims, { tenant, ...room, value: body.resumeValue, bound, record }).then(ok);
  const header = headers["idempotency-key"];
  if (header === undefined) return answer(() => undefined);
  const keyed = {
    tenant,
    operation: `POST /v1/interrupts of ${interruptId}`,
    key: checkedKey(String(header), host.scrubber),
    digest: digestOf(body, undefined, undefined, bound),
  };
  let recorded = false;
  const record: Recorder<ResolveInterruptResponse> = (result) => {
    recorded = true;
    return outcomeOf(host, keyed, ok(result));
  };
  return oncePerKey(
    host,
    keyed,
    () => answer(record),
    () => recorded,
  );
};

function sent({ answer: { status, body }, replayed }: SentEvent): Reply {
  return { status, json: body, ...(replayed ? { headers: { [EVENT_REPLAYED]: "true" } } : {}) };
}
