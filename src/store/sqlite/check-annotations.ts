import type { AnnotationState } from "../../protocol/judgments/annotation.ts";
import type { Refusal } from "../port/store.ts";
import type { AnnotationsTable } from "../schema/judgment-tables.ts";
import type { AnnotationCheck } from "./operations.ts";
import type { Statements } from "./statements.ts";

/** Whether the runs are there, and the annotations as the unit takes them to be. */
export function checkAnnotations(
  tenant: string,
  checks: readonly AnnotationCheck[],
  statements: Statements,
): Refusal | undefined {
  for (const { annotationId, runId, before } of checks) {
    if (runId !== undefined) {
      const run = statements.runTenant.get(runId) as { tenant: string } | undefined;
      if (run?.tenant !== tenant) return { type: "version", runId, version: 0 };
    }
    const found = statements.annotationHead.get(tenant, annotationId);
    const head = found as Pick<AnnotationsTable, "state" | "flag_status"> | undefined;
    const fits =
      before === undefined ? head === undefined : head?.state === before.state && head.flag_status === before.flag;
    if (fits) continue;
    return {
      type: "annotation",
      annotationId,
      ...(head === undefined ? {} : { state: head.state as AnnotationState }),
    };
  }
  return undefined;
}
