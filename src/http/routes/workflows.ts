import { isTurnSpent, ownTurn } from "../../engine/worker/pauses.ts";
import type { Title } from "../../engine/workflows/plans.ts";
import { registerWorkflow } from "../../engine/workflows/register-workflow.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { WORKFLOW_OPERATIONS } from "../../protocol/workflows/operations.ts";
import { WORKFLOW_ID_PATTERN } from "../../protocol/workflows/workflow.ts";
import { type HandlersOf, recordedReply } from "../pipeline/handler.ts";
import { createdOrFound, ok } from "../pipeline/reply.ts";

const DEFAULT_LIMIT = 50;
const WORKFLOW_ID = new RegExp(WORKFLOW_ID_PATTERN);

export const WORKFLOW_ROUTES: HandlersOf<typeof WORKFLOW_OPERATIONS> = {
  registerWorkflow: (context) =>
    recordedReply(context, createdOrFound, (record) => {
      const { host, caller, body: definition, bodyText: text } = context;
      return registerWorkflow(host, { caller, definition, text, record });
    }),
  // The author's text and not the host's reading of it: unknown members survive, and so does every number.
  getWorkflow: async ({ host, caller, params: { workflowId } }) => {
    if (isTurnSpent()) await ownTurn();
    const workflow = await host.store.readWorkflow(caller.tenant, workflowId);
    if (!workflow) throw new AppError("not_found", { what: "workflow", workflowId });
    return { status: 200, raw: workflow.definition, contentType: "application/json" };
  },
  // A page in the order of ids. A cursor is the id of the last workflow of the previous page.
  listWorkflows: async ({ host, caller, query: { limit = DEFAULT_LIMIT, cursor = "" } }) => {
    if (cursor !== "" && !WORKFLOW_ID.test(cursor)) throw validationError("cursor is not one this host gave out");
    const heads = await host.store.listWorkflowHeads(caller.tenant, cursor, limit + 1);
    const workflows: (Title & { readonly hash: string })[] = [];
    // One by one: the definitions of a page may be larger together than the memory of the host.
    for (const { hash } of heads.slice(0, limit)) workflows.push({ ...(await host.plans.titleOf(hash)), hash });
    const last = heads[limit - 1];
    const more = heads.length > limit && last !== undefined ? { nextCursor: last.workflowId } : {};
    return ok({ workflows, ...more });
  },
};
