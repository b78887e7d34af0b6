import { isTurnSpent, ownTurn } from "../../engine/worker/pauses.ts";
import type { Title } from "../../engine/workflows/plans.ts";
import { registerWorkflow } from "../../engine/workflows/register-workflow.ts";
import { AppError } from "../../protocol/errors.ts";
import type { RegisterWorkflowResponse } from "../../protocol/workflows/api.ts";
import { WORKFLOW_ID_PATTERN } from "../../protocol/workflows/workflow.ts";
import { callerOf, type Handler, type Reply } from "../pipeline/handler.ts";

export const registerWorkflowRoute: Handler = async (context) => {
  const { host, body: definition, bodyText: text } = context;
  const caller = callerOf(context);
  const record = context.recorder(registered);
  return registered(await registerWorkflow(host, { caller, definition, text, record }));
};

function registered(response: RegisterWorkflowResponse): Reply {
  return { status: response.created ? 201 : 200, json: response };
}

/** The author's text and not our reading of it: members we do not know survive, and so does every number. */
export const getWorkflowRoute: Handler = async (context) => {
  const { host, params } = context;
  const workflowId = params["workflowId"] ?? "";
  if (isTurnSpent()) await ownTurn();
  const workflow = await host.store.readWorkflow(callerOf(context).tenant, workflowId);
  if (!workflow) throw new AppError("not_found", { what: "workflow", workflowId });
  return { status: 200, raw: workflow.definition, contentType: "application/json" };
};

const DEFAULT_LIMIT = 50;
const WORKFLOW_ID = new RegExp(WORKFLOW_ID_PATTERN);

/** A page by id. A cursor is the id of the last workflow of the page before. */
export const listWorkflowsRoute: Handler = async (context) => {
  const { host } = context;
  const { limit = DEFAULT_LIMIT, cursor = "" } = context.query as { limit?: number; cursor?: string };
  if (cursor !== "" && !WORKFLOW_ID.test(cursor)) {
    throw new AppError("validation_error", { problem: "cursor is not one this host gave out" });
  }
  const { tenant } = callerOf(context);
  const heads = await host.store.listWorkflowHeads(tenant, cursor, limit + 1);
  const workflows: (Title & { readonly hash: string })[] = [];
  // One by one: the definitions of a page may be more than the host can hold.
  for (const { hash } of heads.slice(0, limit)) workflows.push({ ...(await host.plans.titleOf(hash)), hash });
  const last = heads[limit - 1];
  const more = heads.length > limit && last !== undefined ? { nextCursor: last.workflowId } : {};
  return { status: 200, json: { workflows, ...more } };
};
