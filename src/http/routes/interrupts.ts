import type { Recorder } from "../../engine/execute.ts";
import { readByToken, readInterrupt } from "../../engine/gates/shown-gates.ts";
import { resolveByToken, resolveInterrupt } from "../../engine/gates/resolve-interrupt.ts";
import { AppError } from "../../protocol/errors.ts";
import type { ResolveInterruptBody, ResolveInterruptResponse, VoteBinding } from "../../protocol/gates/api.ts";
import { callerOf, type Handler, type Reply, type RequestContext, runOf } from "../pipeline/handler.ts";
import { checkedKey, digestOf, oncePerKey, outcomeOf } from "../pipeline/idempotency.ts";

export const resolveInterruptRoute: Handler = async (context) => {
  const { host, params, body } = context;
  const { runId = "", nodeId = "" } = params;
  const { resumeValue: value } = body as ResolveInterruptBody;
  const bound = context.query as VoteBinding;
  const answer = { runId, of: { nodeId }, value, bound, record: context.recorder(ok), seen: runOf(context) };
  return ok(await resolveInterrupt(host, { caller: callerOf(context), ...answer }));
};

export const readInterruptRoute: Handler = async (context) =>
  ok(await readInterrupt(context.host, callerOf(context), context.params["interruptId"] ?? ""));

export const getInterruptByTokenRoute: Handler = async (context) => {
  const { view } = await readByToken(context.host, claimsOf(context), context.room);
  return ok(view);
};

/**
 * Whether the interrupt is still open is decided with the answer, in one step; here only whose it is. A repetition under
 * one Idempotency-Key belongs to the interrupt, for nobody has called.
 */
export const resolveInterruptByTokenRoute: Handler = async (context) => {
  const { host, body, headers } = context;
  const claims = claimsOf(context);
  const { runId, interruptId, intent } = claims;
  if (intent !== "resolve") {
    throw new AppError("forbidden", { problem: "this token is for looking, not for answering", intent });
  }
  const tenant = await host.store.tenantOf(runId);
  if (tenant === undefined) throw new AppError("interrupt_not_found");
  const { resumeValue: value } = body as ResolveInterruptBody;
  const bound = context.query as VoteBinding;
  const answer = (record: Recorder<ResolveInterruptResponse>) =>
    resolveByToken(host, claims, { tenant, ...context.room, value, bound, record }).then(ok);
  const header = headers["idempotency-key"];
  if (header === undefined) return answer(() => undefined);
  const operation = `POST /v1/interrupts of ${interruptId}`;
  const keyed = {
    tenant,
    operation,
    key: checkedKey(String(header), host.scrubber),
    digest: digestOf(body, undefined, undefined, bound),
  };
  let recorded = false;
  const record: Recorder<ResolveInterruptResponse> = (result) => {
    recorded = true;
    return outcomeOf(host, keyed, { status: 200, json: result });
  };
  return oncePerKey(
    host,
    keyed,
    () => answer(record),
    () => recorded,
  );
};

function claimsOf({ host, params }: RequestContext) {
  return host.tokens.read(params["token"] ?? "");
}

function ok(json: unknown): Reply {
  return { status: 200, json };
}
