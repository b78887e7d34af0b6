import { listJudgments } from "../../engine/judgments/list-annotations.ts";
import type { AnnotationListQuery } from "../../protocol/judgments/annotation-api.ts";
import { callerOf, type Handler } from "../pipeline/handler.ts";

export const listJudgmentsRoute: Handler = async (context) => {
  const json = await listJudgments(context.host, callerOf(context), context.query as AnnotationListQuery);
  return { status: 200, json };
};
