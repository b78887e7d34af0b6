import type { RowChange } from "../../protocol/tapes/api.ts";
import type { AnnotationWrite } from "../../store/port/judgments.ts";
import type { IdempotencyOutcome, Unit } from "../../store/port/store.ts";
import { auditDraft } from "../execute.ts";
import type { Host } from "../host.ts";
import { isMadeHere } from "../judgments/may-replace.ts";
import type { JudgedRow } from "./judged-rows.ts";
import { draftChange, prunedChange } from "./push-answer.ts";
import type { Draft } from "./push-drafts.ts";
import type { PushPlan } from "./push-plan.ts";
import type { PushSidecar } from "./push-sidecar.ts";

/** One commit of a push, and what it does. */
interface PushUnit {
  readonly unit: Unit;
  readonly changes: readonly RowChange[];
}

interface Step {
  readonly writes: readonly AnnotationWrite[];
  /** Whether it writes a judgment in the name of another author than the caller. */
  readonly isImported: boolean;
  readonly change: RowChange;
}

const STEPS_MAX = 250;

/** None when there is nothing to write. The file, and the outcome, are in the last. */
export function unitsOf(
  host: Host,
  { caller, run }: PushSidecar,
  { drafts, pruned, sidecar }: PushPlan,
  outcome: () => IdempotencyOutcome | undefined,
): PushUnit[] {
  const nowMs = host.nowMs();
  const retraction = { by: caller.principal, atMs: nowMs, reason: "no longer in the sidecar" };
  const steps = [...drafts.map(draftStep), ...pruned.map(retractStep)];
  if (steps.length === 0 && sidecar === undefined) return [];
  const units: PushUnit[] = [];
  for (let i = 0; i < steps.length || i === 0; i += STEPS_MAX) units.push(unitOf(steps.slice(i, i + STEPS_MAX)));
  const last = units.pop() as PushUnit;
  const idempotency = outcome();
  const tapes = sidecar === undefined ? [] : [{ type: "sidecar" as const, tenant: caller.tenant, sidecar }];
  const unit = { ...last.unit, ...(tapes.length > 0 && { tapes }), ...(idempotency && { idempotency }) };
  return [...units, { ...last, unit }];

  function unitOf(part: readonly Step[]): PushUnit {
    const count = (what: RowChange["what"]) => part.filter(({ change }) => change.what === what).length;
    const details = {
      recorded: count("recorded"),
      superseded: count("superseded"),
      retracted: count("retracted"),
      imported: part.filter(({ isImported }) => isImported).length,
      annotationIds: part.flatMap(({ change }) => change.annotationId ?? []),
    };
    const annotations = part.flatMap(({ writes }) => writes);
    return {
      unit: {
        tenant: caller.tenant,
        ...(annotations.length === 0 ? {} : { annotations }),
        audit: [auditDraft(caller, nowMs, run.runId, { action: "sidecar.push", details })],
      },
      changes: part.map(({ change }) => change),
    };
  }

  function retractStep(row: JudgedRow): Step {
    const writes = [{ type: "retract" as const, earlier: row.record, retraction }];
    return { writes, isImported: false, change: prunedChange(row) };
  }
}

/** As an import, since a row may be born replaced: by one further down in the same file. */
function draftStep(draft: Draft): Step {
  const { annotation, earlier } = draft;
  const { annotationId: supersededBy, createdAtMs: supersededAtMs } = annotation;
  const onRun = true;
  return {
    writes: [
      { type: "import", annotation, onRun },
      ...(earlier === undefined
        ? []
        : [
            {
              type: "import" as const,
              annotation: { ...earlier, state: "superseded" as const, supersededBy, supersededAtMs },
              earlier,
              onRun: true as const,
            },
          ]),
    ],
    isImported: !isMadeHere(annotation),
    change: draftChange(draft),
  };
}
