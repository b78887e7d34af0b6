import { deleteRun } from "../engine/delete-run.ts";
import type { DeleteRunResponse } from "../protocol/deletion-operations.ts";
import { callerOf, type Handler, type Reply } from "./handler.ts";

export const deleteRunRoute: Handler = async (context) => {
  const runId = context.params["runId"] ?? "";
  return ok(await deleteRun(context.host, { caller: callerOf(context), runId, record: context.recorder(ok) }));
};

function ok(json: DeleteRunResponse): Reply {
  return { status: 200, json };
}
