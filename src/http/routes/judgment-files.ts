import { exportJudgments } from "../../engine/judgments/export-judgments.ts";
import { importJudgments } from "../../engine/judgments/import-judgments.ts";
import type { AnnotationFilter } from "../../protocol/judgments/annotation-api.ts";
import type { ImportRequest, ImportResponse } from "../../protocol/judgments/judgment-file.ts";
import { callerOf, type Handler, type Reply } from "../pipeline/handler.ts";
import { sendList } from "../pipeline/send-list.ts";

export const exportJudgmentsRoute: Handler = async (context) => {
  const items = exportJudgments(context.host, callerOf(context), context.query as AnnotationFilter);
  return sendList(context, { before: "", items, between: "\n", after: "\n", contentType: "application/x-ndjson" });
};

export const importJudgmentsRoute: Handler = async (context) => {
  const reply = (json: ImportResponse): Reply => ({ status: 200, json });
  const request = context.body as ImportRequest;
  const record = context.recorder(reply);
  return reply(await importJudgments(context.host, { caller: callerOf(context), request, record }));
};
