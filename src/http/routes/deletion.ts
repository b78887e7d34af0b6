import { deleteRun } from "../../engine/runs/delete-run.ts";
import type { DeleteRunResponse } from "../../protocol/runs/deletion-operations.ts";
import { callerOf, type Handler, type Reply } from "../pipeline/handler.ts";

export const deleteRunRoute: Handler = async (context) => {
  const runId = context.params["runId"] ?? "";
  return ok(await deleteRun(context.host, { caller: callerOf(context), runId, record: context.recorder(ok) }));
};

function ok(json: DeleteRunResponse): Reply {
  return { status: 200, json };
}
