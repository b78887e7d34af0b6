import { visibleRun } from "../../engine/execute.ts";
import { annotate } from "../../engine/judgments/annotate.ts";
import { annotationDoc, annotationView } from "../../engine/judgments/annotation-view.ts";
import { closeFlag, retract } from "../../engine/judgments/change-annotation.ts";
import { exportJudgments } from "../../engine/judgments/export-judgments.ts";
import { feedbackSummary } from "../../engine/judgments/feedback-summary.ts";
import { importJudgments } from "../../engine/judgments/import-judgments.ts";
import { listJudgments, shownAnnotation } from "../../engine/judgments/list-annotations.ts";
import { runIdentity } from "../../engine/runs/run-identity.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { AnnotateRequest } from "../../protocol/judgments/annotation-api.ts";
import type { JUDGMENT_OPERATIONS } from "../../protocol/judgments/operations.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import { isLastPage } from "../../store/port/large-rows.ts";
import { type HandlersOf, type RequestContext, recordedReply } from "../pipeline/handler.ts";
import { created, ok, type Reply } from "../pipeline/reply.ts";
import { jsonPages, pagesOf, sendList } from "../pipeline/send-list.ts";

const PAGE_ROWS = 50;

/** All but the stream of judgments, which is in `events.ts`. */
export const JUDGMENT_ROUTES: HandlersOf<Omit<typeof JUDGMENT_OPERATIONS, "streamJudgments">> = {
  createAnnotation: (context) => annotateWith(context, context.body, (record) => created(annotationDoc(record))),
  // The same with the members that are Assay's own, in the request and in the response.
  annotateRun: (context) => annotateWith(context, context.body, (record) => created(annotationView(record))),
  listAnnotations: async (context) => {
    const { store } = context.host;
    const { runId } = await visibleRun(context.host, context.caller, context.params.runId);
    async function* pages() {
      for (let after: AnnotationRecord | undefined; ; ) {
        const page = await store.annotationsOfRun(runId, after, PAGE_ROWS);
        yield page.map((record) => JSON.stringify(annotationDoc(record)));
        after = page.at(-1);
        if (isLastPage(page, PAGE_ROWS)) return;
      }
    }
    return sendList(context, { before: '{"annotations":[', items: pages(), after: "]}" });
  },
  listJudgments: async ({ host, caller, query }) => ok(await listJudgments(host, caller, query)),
  getAnnotation: async ({ host, caller, params }) => viewed(await shownAnnotation(host, caller, params.annotationId)),
  retractAnnotation: (context) =>
    recordedReply(context, viewed, (record) => retract(context.host, { ...changeOf(context), record })),
  closeFlag: (context) =>
    recordedReply(context, viewed, (record) => closeFlag(context.host, { ...changeOf(context), record })),
  getFeedbackSummary: async (context) => {
    const { total, groups } = await feedbackSummary(context.host, context.caller, context.query);
    const before = `{"total":${JSON.stringify(total)},"groups":[`;
    return sendList(context, { before, items: jsonPages(pagesOf(groups, 1)), after: "]}" });
  },
  exportJudgments: async (context) => {
    const items = exportJudgments(context.host, context.caller, context.query);
    return sendList(context, { before: "", items, between: "\n", after: "\n", contentType: "application/x-ndjson" });
  },
  importJudgments: (context) =>
    recordedReply(context, ok, (record) => {
      return importJudgments(context.host, { caller: context.caller, request: context.body, record });
    }),
};

type Annotating = Pick<RequestContext, "host" | "recorder"> & {
  readonly caller: Caller;
  readonly params: { readonly runId: string };
};

function annotateWith(
  context: Annotating,
  request: AnnotateRequest,
  reply: (record: AnnotationRecord) => Reply,
): Promise<Reply> {
  return recordedReply(context, reply, async (record) => {
    const { host, caller, params } = context;
    return annotate(host, { caller, run: await runIdentity(host, caller, params.runId), request, record });
  });
}

function changeOf<B>({
  caller,
  params,
  body,
}: Pick<Annotating, "caller"> & { params: { annotationId: string }; body: B }) {
  return { caller, annotationId: params.annotationId, request: body };
}

function viewed(record: AnnotationRecord): Reply {
  return ok(annotationView(record));
}
