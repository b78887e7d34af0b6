import { addFromRun } from "../../evals/add-from/add-from-run.ts";
import { listTaskLinks } from "../../evals/add-from/task-links.ts";
import { EVAL_OPERATIONS } from "../../protocol/evals/operations.ts";
import type { AddedTask, AddFromRequest, TaskLinkQuery } from "../../protocol/evals/suite-growth.ts";
import type { SUITE_GROWTH_OPERATIONS } from "../../protocol/evals/suite-growth-operations.ts";
import type { HttpDeps } from "../pipeline/deps.ts";
import { callerOf, type Handler, type Reply } from "../pipeline/handler.ts";

export function suiteGrowthRoutes({
  authorizer,
  evals,
}: Pick<HttpDeps, "authorizer" | "evals">): Readonly<Record<keyof typeof SUITE_GROWTH_OPERATIONS, Handler>> {
  return {
    addTaskFromRun: async (context) => {
      const caller = callerOf(context);
      // A task holds what was said in the run.
      await authorizer.authorize(caller, "runs:read");
      const request = context.body as AddFromRequest;
      const reply = (json: AddedTask): Reply => ({ status: request.check === true ? 200 : 201, json });
      const { agents, memory } = evals;
      const record = context.recorder(reply);
      const mayReadBodies = () => authorizer.authorize(caller, EVAL_OPERATIONS.getEvalTaskBodies.access);
      return reply(await addFromRun(context.host, { caller, request, agents, memory, mayReadBodies, record }));
    },
    listTaskLinks: async (context) => ({
      status: 200,
      json: await listTaskLinks(context.host.store, callerOf(context), context.query as TaskLinkQuery),
    }),
  };
}
