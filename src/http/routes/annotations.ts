import { visibleRun } from "../../engine/execute.ts";
import { annotate } from "../../engine/judgments/annotate.ts";
import { annotationDoc, annotationView } from "../../engine/judgments/annotation-view.ts";
import { closeFlag, retract } from "../../engine/judgments/change-annotation.ts";
import { shownAnnotation } from "../../engine/judgments/shown-annotation.ts";
import { runIdentity } from "../../engine/runs/run-identity.ts";
import type { AnnotateRequest, CloseFlagRequest, RetractRequest } from "../../protocol/judgments/annotation-api.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import { callerOf, type Handler, type Reply, type RequestContext } from "../pipeline/handler.ts";
import { sendList } from "../pipeline/send-list.ts";

export const createAnnotationRoute: Handler = async (context) => {
  const reply = (record: AnnotationRecord): Reply => ({ status: 201, json: annotationDoc(record) });
  return reply(await annotate(context.host, { ...(await annotating(context)), record: context.recorder(reply) }));
};

/** The same with what Assay keeps beside it, in the request and in the answer. */
export const annotateRunRoute: Handler = async (context) => {
  const reply = (record: AnnotationRecord): Reply => ({ status: 201, json: annotationView(record) });
  return reply(await annotate(context.host, { ...(await annotating(context)), record: context.recorder(reply) }));
};

async function annotating(context: RequestContext) {
  const caller = callerOf(context);
  const run = await runIdentity(context.host, caller, context.params["runId"] ?? "");
  return { caller, run, request: context.body as AnnotateRequest };
}

/** A correction may be as long as a book. */
const PAGE_ROWS = 50;

export const listAnnotationsRoute: Handler = async (context) => {
  const { host, params } = context;
  const { runId } = await visibleRun(host, callerOf(context), params["runId"] ?? "");
  async function* pages() {
    for (let after: AnnotationRecord | undefined; ; ) {
      const page = await host.store.annotationsOfRun(runId, after, PAGE_ROWS);
      yield page.map((record) => JSON.stringify(annotationDoc(record)));
      after = page.at(-1);
      if (page.length < PAGE_ROWS) return;
    }
  }
  return sendList(context, { before: '{"annotations":[', items: pages(), after: "]}" });
};

export const getAnnotationRoute: Handler = async (context) =>
  viewed(await shownAnnotation(context.host, callerOf(context), context.params["annotationId"] ?? ""));

export const retractAnnotationRoute: Handler = async (context) => {
  const request = context.body as RetractRequest;
  return viewed(await retract(context.host, { ...changing(context), request, record: context.recorder(viewed) }));
};

export const closeFlagRoute: Handler = async (context) => {
  const request = context.body as CloseFlagRequest;
  return viewed(await closeFlag(context.host, { ...changing(context), request, record: context.recorder(viewed) }));
};

function changing(context: RequestContext) {
  return { caller: callerOf(context), annotationId: context.params["annotationId"] ?? "" };
}

function viewed(record: AnnotationRecord): Reply {
  return { status: 200, json: annotationView(record) };
}
