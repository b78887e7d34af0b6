import { MAX_ROW_CHANGES, type PushSidecarResponse, type RowChange } from "../../protocol/tapes/api.ts";
import type { AnnotationWrite } from "../../store/port/judgments.ts";
import type { IdempotencyOutcome, Unit } from "../../store/port/store.ts";
import { auditDraft } from "../execute.ts";
import type { Host } from "../host.ts";
import { isMadeHere } from "../judgments/may-replace.ts";
import type { JudgedRow } from "./judged-rows.ts";
import { type Draft, supersededBy } from "./push-drafts.ts";
import type { PushPlan } from "./push-plan.ts";
import type { PushSidecar } from "./push-sidecar.ts";

/** One commit of a push, with its changes. */
interface PushUnit {
  readonly unit: Unit;
  readonly changes: readonly RowChange[];
}

interface Step {
  readonly writes: readonly AnnotationWrite[];
  /** Whether it writes a judgment in the name of another author. */
  readonly isImported: boolean;
  readonly change: RowChange;
}

const STEPS_MAX = 250;

/** The commits of a push. The file and the idempotency outcome are in the last. */
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

/** The writes of a row. They are imports, because a row may be replaced by a later one of the same file. */
function draftStep(draft: Draft): Step {
  const { annotation, earlier } = draft;
  const writes: AnnotationWrite[] = [{ type: "import", annotation, onRun: true }];
  if (earlier !== undefined) {
    writes.push({ type: "import", annotation: supersededBy(earlier, annotation), earlier, onRun: true });
  }
  return { writes, isImported: !isMadeHere(annotation), change: draftChange(draft) };
}

/** The response of a push. Judgments that it wrote before it had to plan again count as its own, not as found. */
export class PushAnswer {
  readonly #scrubbed: number;
  readonly #dryRun: boolean;
  #plan: PushPlan | undefined;
  readonly #done = new Map<string, RowChange>();

  constructor(scrubbed: number, dryRun: boolean) {
    this.#scrubbed = scrubbed;
    this.#dryRun = dryRun;
  }

  plan(plan: PushPlan): void {
    this.#plan = plan;
  }

  done(changes: readonly RowChange[]): void {
    for (const change of changes) this.#done.set(change.annotationId ?? "", change);
  }

  response(): PushSidecarResponse {
    const { fates, drafts, pruned, onlyHere } = this.#plan as PushPlan;
    const planned = [...drafts.map(draftChange), ...pruned.map(prunedChange)];
    const written = new Map([...this.#done, ...planned.map((one) => [one.annotationId ?? "", one] as const)]);
    const own = [...written.values()];
    const withdrawn = fates.flatMap((fate) => (fate.what === "withdrawn" ? withdrawnChange(fate) : []));
    const count = (what: RowChange["what"]) => own.filter((one) => one.what === what).length;
    const rows = own.filter(({ line }) => line !== undefined).length;
    const changes = [...own, ...withdrawn].sort((a, b) => (a.line ?? LAST) - (b.line ?? LAST));
    return {
      recorded: count("recorded"),
      superseded: count("superseded"),
      unchanged: fates.length - rows - withdrawn.length,
      withdrawn: withdrawn.length,
      retracted: count("retracted"),
      onlyHere: onlyHere.length,
      scrubbed: this.#scrubbed,
      dryRun: this.#dryRun,
      changes: [...changes, ...onlyHere.map(onlyHereChange)].slice(0, MAX_ROW_CHANGES),
    };
  }
}

const LAST = Number.POSITIVE_INFINITY;

function draftChange({ row, annotation, earlier }: Draft): RowChange {
  const what = earlier === undefined ? "recorded" : "superseded";
  return { line: row.line, id: row.row.id, what, annotationId: annotation.annotationId };
}

function prunedChange({ id, record }: JudgedRow): RowChange {
  return { id, what: "retracted", annotationId: record.annotationId };
}

function onlyHereChange({ id, record }: JudgedRow): RowChange {
  return { id, what: "only_here", annotationId: record.annotationId };
}

function withdrawnChange({ row, known }: { row: Draft["row"]; known: JudgedRow }): RowChange {
  return { line: row.line, id: row.row.id, what: "withdrawn", annotationId: known.record.annotationId };
}
