import type { Authorizer } from "../../engine/identity/roles.ts";
import { addFromRun } from "../../evals/add-from/add-from-run.ts";
import { listTaskLinks } from "../../evals/add-from/task-links.ts";
import type { EvalServices } from "../../evals/run/eval-run.ts";
import { listSuites } from "../../evals/suite/stored-suite.ts";
import { putSuite, suiteText } from "../../evals/suite/suite-store.ts";
import { EVAL_OPERATIONS } from "../../protocol/evals/operations.ts";
import type { SUITE_OPERATIONS } from "../../protocol/evals/suite-operations.ts";
import { type HandlersOf, recordedReply } from "../pipeline/handler.ts";
import { created, createdOrFound, ok } from "../pipeline/reply.ts";

export function suiteRoutes(
  authorizer: Pick<Authorizer, "authorize">,
  { agents, memory }: EvalServices,
): HandlersOf<typeof SUITE_OPERATIONS> {
  return {
    listSuites: async ({ host, caller, query }) => ok(await listSuites(host, caller.tenant, query)),
    putSuite: async ({ host, caller, params, bodyBytes: bytes }) =>
      createdOrFound(await putSuite(host, { caller, ref: params.suiteRef, bytes })),
    // The author's text: readers get the text that was reviewed.
    getSuite: async ({ host, caller, params }) => {
      const text = await suiteText(host, caller.tenant, params.suiteRef);
      return { status: 200, raw: text, contentType: "application/json" };
    },
    addTaskFromRun: (context) =>
      recordedReply(context, context.body.check === true ? ok : created, async (record) => {
        const { host, caller, body: request } = context;
        // A task holds texts of the run.
        await authorizer.authorize(caller, "runs:read");
        const mayReadBodies = () => authorizer.authorize(caller, EVAL_OPERATIONS.getEvalTaskBodies.access);
        return addFromRun(host, { caller, request, agents, memory, mayReadBodies, record });
      }),
    listTaskLinks: async ({ host, caller, query }) => ok(await listTaskLinks(host.store, caller, query)),
  };
}
