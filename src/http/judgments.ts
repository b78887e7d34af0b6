import { listJudgments } from "../engine/list-annotations.ts";
import type { AnnotationListQuery } from "../protocol/annotation-api.ts";
import { callerOf, type Handler } from "./handler.ts";

export const listJudgmentsRoute: Handler = async (context) => {
  const json = await listJudgments(context.host, callerOf(context), context.query as AnnotationListQuery);
  return { status: 200, json };
};
