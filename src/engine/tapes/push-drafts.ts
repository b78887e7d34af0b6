import { Chains } from "../../formats/tapes/sidecar/current-rows.ts";
import { judgmentOfRow, type RowJudgment } from "../../formats/tapes/sidecar/judgment-rows.ts";
import { SUPERSEDES } from "../../formats/tapes/sidecar/new-row.ts";
import { type RowLine, rowKey } from "../../formats/tapes/sidecar/row-lines.ts";
import { agentFields, agentsOfNode } from "../../protocol/agents/agent-of.ts";
import { defined } from "../../protocol/defined.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import { instantMs } from "../../protocol/instant.ts";
import type { Target } from "../../protocol/judgments/annotation.ts";
import { MAX_ROW_CHARACTERS } from "../../protocol/tapes/api.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import type { TargetEvent } from "../judgments/decide/annotate.ts";
import { isMadeHere, mayReplace } from "../judgments/may-replace.ts";
import type { RunIdentity } from "../runs/run-identity.ts";
import type { JudgedRow, JudgedRows } from "./judged-rows.ts";
import { authorOf, type RowAuthor } from "./push-author.ts";
import type { Fate } from "./push-fates.ts";
import { isSameRow } from "./row-id.ts";

/** A judgment that a row makes, and the one that is here and is replaced by it. */
export interface Draft {
  readonly row: RowLine;
  annotation: AnnotationRecord;
  earlier?: AnnotationRecord;
}

export interface RowProblem {
  readonly line: number;
  readonly id: string;
  readonly problem: string;
}

interface Drafts {
  readonly drafts: readonly Draft[];
  readonly problems: readonly RowProblem[];
  /** Judgments that are here and are not in the file, and are replaced by one that is. */
  readonly replaced: ReadonlySet<JudgedRow>;
}

export interface DraftSetting {
  readonly caller: Caller;
  readonly run: RunIdentity;
  readonly nowMs: number;
  readonly events: ReadonlyMap<bigint, TargetEvent>;
  /**
   * The same id for the same row at the same place in whichever push: of two pushes of one file at once, one is refused and plans
   * again. Ids ascend with the place in the file, which is the order of lists where times are equal.
   */
  idOf(place: number, key: string, use: number, replaces: string): string;
  /** Whether a row may be about this instead of its event. */
  isTarget(target: Target, eventId: bigint): boolean;
  scrub(text: string): string;
}

/** The judgments that new and changed rows make, in the order of the file. Pure: nothing has been written when a row has a problem. */
export function draftsOf(fates: readonly Fate[], { all, standing }: JudgedRows, setting: DraftSetting): Drafts {
  const chains = new Chains();
  const uses = usesOf(all);
  const missing = new Map(standing.map((known) => [nameOf(known.record.actor, known.id, known.eventId), known]));
  for (const fate of fates) {
    if ("known" in fate) missing.delete(nameOf(fate.known.record.actor, fate.known.id, fate.known.eventId));
  }
  const drafts = new Map<number, Draft>();
  const problems: RowProblem[] = [];
  const replaced = new Set<JudgedRow>();

  fates.forEach((fate, i) => {
    const { row } = fate;
    chains.add(row.row);
    if (fate.what === "unchanged" || fate.what === "withdrawn") return;
    const draft = draftOf(fate, i);
    if (typeof draft === "string") problems.push({ line: row.line, id: row.row.id, problem: draft });
    else {
      if (fate.what === "new" || takesOver(draft)) link(draft, i);
      drafts.set(i, draft);
    }
  });
  return { drafts: [...drafts.values()], problems, replaced };

  function draftOf(fate: Exclude<Fate, { what: "unchanged" | "withdrawn" }>, place: number): Draft | string {
    const { row } = fate;
    if (row.text.length > MAX_ROW_CHARACTERS) return `it is longer than ${MAX_ROW_CHARACTERS} characters`;
    if (fate.what === "ambiguous") {
      return `it names no author, and a row of ${fate.author} is called the same; name the author in \`author.id\`, as pull does`;
    }
    const author = authorOf(row.row, setting.caller);
    if ("problem" in author) return author.problem;
    const event = setting.events.get(row.row.event_id);
    if (event === undefined) return `event ${row.row.event_id} is not in this run`;
    const earlier = fate.what === "changed" ? fate.known.record : undefined;
    if (earlier !== undefined && !mayReplace(author, earlier)) {
      return `it was changed, and only ${earlier.actor}, who wrote it, can do that`;
    }
    const key = keyOf(author.actor, row.key);
    const use = earlier === undefined ? nextUse(key) : 0;
    const annotationId = setting.idOf(place, key, use, earlier?.annotationId ?? "");
    const annotation = annotationOf(row, author, event, { annotationId, ...(earlier && { supersedes: earlier }) });
    return defined({ row, annotation, earlier });
  }

  function nextUse(key: string): number {
    const use = uses.get(key) ?? 0;
    uses.set(key, use + 1);
    return use;
  }

  /** A row may name the one that it replaces; where that is not the author's own, or replaced before, it stands for itself. */
  function link(draft: Draft, i: number): void {
    const { row } = draft.row;
    const named = row.metadata.get(SUPERSEDES);
    if (typeof named !== "string" || named === "" || named === row.id) return;
    const above = chains.earlierThan(i);
    const { annotation } = draft;
    const earlier = above === undefined ? undefined : drafts.get(above);
    if (earlier !== undefined) {
      if (!mayReplace(annotation, earlier.annotation) || earlier.annotation.state !== "live") return;
      earlier.annotation = supersededBy(earlier.annotation, annotation);
      draft.annotation = { ...annotation, supersedes: earlier.annotation.annotationId };
      return;
    }
    if (draft.earlier !== undefined) return;
    const known =
      above === undefined ? missing.get(nameOf(annotation.actor, named, row.event_id)) : knownOf(fates[above]);
    if (known === undefined || !mayReplace(annotation, known.record) || replaced.has(known)) return;
    const { record } = known;
    // What broke off in the middle: the other half is here already.
    const { annotationId } = annotation;
    const announced = isSameRow(record.supersededBy, annotationId) ? record.supersededBy : undefined;
    if (record.state !== "live" && announced === undefined) return;
    replaced.add(known);
    draft.annotation = { ...annotation, annotationId: announced ?? annotationId, supersedes: record.annotationId };
    if (announced === undefined) draft.earlier = record;
  }

  function annotationOf(
    { row, text }: RowLine,
    { actor, actorKind, importedBy }: RowAuthor,
    event: TargetEvent,
    { annotationId, supersedes }: { readonly annotationId: string; readonly supersedes?: AnnotationRecord },
  ): AnnotationRecord {
    const { run, nowMs, scrub } = setting;
    const { runId, workflowId, owner } = run;
    const said = judgmentOfRow(row);
    const target = targetOf(said, event, row.event_id);
    const aboutNode = target.nodeId ?? (target.eventId === event.eventId ? event.nodeId : undefined);
    const { label, correction } = said.signal;
    return {
      annotationId,
      tenant: owner.tenant,
      ...defined({ workspace: owner.workspace }),
      runId,
      workflowId,
      ...agentFields(agentsOfNode(run, aboutNode)),
      target,
      ...defined({ aboutNode }),
      signal: {
        ...said.signal,
        ...(label === undefined ? {} : { label: scrub(label) }),
        ...(correction === undefined ? {} : { correction: scrub(correction) }),
      },
      ...(said.note === undefined ? {} : { note: scrub(said.note) }),
      actor,
      actorKind,
      ...(actorKind === "agent" && said.confidence !== undefined ? { confidence: said.confidence } : {}),
      createdAtMs: timeOf(row.timestamp, nowMs, supersedes?.createdAtMs),
      state: "live",
      ...(supersedes === undefined ? {} : { supersedes: supersedes.annotationId }),
      ...(said.signal.kind === "flag" ? { flag: { status: "open" } } : {}),
      ...defined({ importedBy }),
      tapeRow: text,
    };
  }

  function targetOf({ target }: RowJudgment, { eventId }: TargetEvent, number: bigint): Target {
    return target !== undefined && setting.isTarget(target, number) ? target : { eventId };
  }
}

function knownOf(fate: Fate | undefined): JudgedRow | undefined {
  return fate !== undefined && "known" in fate ? fate.known : undefined;
}

/** Whether it is the author's own in the place of what was imported in the author's name. */
function takesOver({ annotation, earlier }: Draft): boolean {
  return earlier !== undefined && isMadeHere(annotation) && !isMadeHere(earlier);
}

function supersededBy(annotation: AnnotationRecord, by: AnnotationRecord): AnnotationRecord {
  const { annotationId, createdAtMs } = by;
  return { ...annotation, state: "superseded", supersededBy: annotationId, supersededAtMs: createdAtMs };
}

/** How often each key has begun anew. */
function usesOf(all: readonly JudgedRow[]): Map<string, number> {
  const keys = new Map(all.map(({ record, id, came }) => [record, keyOf(record.actor, rowKey(id, came))]));
  const keyOfId = new Map([...keys].map(([{ annotationId }, key]) => [annotationId, key]));
  const uses = new Map<string, number>();
  for (const [{ supersedes }, key] of keys) {
    if (keyOfId.get(supersedes ?? "") !== key) uses.set(key, (uses.get(key) ?? 0) + 1);
  }
  return uses;
}

/** Rows of several authors may have the same key. */
function keyOf(actor: string, key: string): string {
  return JSON.stringify([actor, key]);
}

function nameOf(actor: string, id: string, eventId: bigint): string {
  return JSON.stringify([actor, String(eventId), id]);
}

/** What is to come, what nobody can read, and what a row said before it was changed, is not when it was written. */
function timeOf(timestamp: string | null, nowMs: number, afterMs = -1): number {
  const ms = timestamp === null ? undefined : instantMs(timestamp);
  return ms === undefined || ms <= afterMs || ms > nowMs ? nowMs : ms;
}
