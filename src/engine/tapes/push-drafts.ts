import { Chains } from "../../formats/tapes/sidecar/current-rows.ts";
import { authorNameOf, judgmentOfRow, type RowJudgment } from "../../formats/tapes/sidecar/judgment-rows.ts";
import { SUPERSEDES } from "../../formats/tapes/sidecar/new-row.ts";
import { type RowLine, rowKey } from "../../formats/tapes/sidecar/row-lines.ts";
import type { Row } from "../../formats/tapes/sidecar/sidecar.ts";
import { agentFields, agentsOfNode } from "../../protocol/agents/agent-of.ts";
import { defined } from "../../protocol/defined.ts";
import { type Caller, visibilityOf } from "../../protocol/identity/identity.ts";
import { instantMs } from "../../protocol/instant.ts";
import type { ActorKind, Target } from "../../protocol/judgments/annotation.ts";
import { MAX_ROW_CHARACTERS } from "../../protocol/tapes/api.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import { actorKindOf, scrubSignal, type TargetEvent } from "../judgments/decide/annotate.ts";
import { isMadeHere, mayReplace } from "../judgments/may-replace.ts";
import type { RunIdentity } from "../runs/run-identity.ts";
import type { JudgedRow, JudgedRows } from "./judged-rows.ts";
import type { Fate } from "./push-plan.ts";
import { isSameRow } from "./row-events.ts";

/** The judgment of a row, and the stored one that it replaces. */
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
  /** Stored judgments that are not in the file and are replaced by one that is. */
  readonly replaced: ReadonlySet<JudgedRow>;
}

export interface DraftSetting {
  readonly caller: Caller;
  readonly run: RunIdentity;
  readonly nowMs: number;
  readonly events: ReadonlyMap<bigint, TargetEvent>;
  /**
   * The same id for the same row at the same place in any push: of two simultaneous pushes of one file, one is refused and plans again. Ids ascend
   * with the place in the file, which orders lists where times are equal.
   */
  idOf(place: number, key: string, use: number, replaces: string): string;
  /** Whether a row may have this target in place of its event. */
  isTarget(target: Target, eventId: bigint): boolean;
  scrub(text: string): string;
}

/** The judgments of new and changed rows, in the order of the file. Pure: nothing is written where a row has a problem. */
export function draftsOf(fates: readonly Fate[], { all, current }: JudgedRows, setting: DraftSetting): Drafts {
  const chains = new Chains();
  const uses = usesOf(all);
  const missing = new Map(current.map((known) => [nameOf(known.record.actor, known.id, known.eventId), known]));
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
      return `it names no author, and a row of ${fate.author} has the same id; name the author in \`author.id\`, as pull does`;
    }
    const author = authorOf(row.row, setting.caller);
    if ("problem" in author) return author.problem;
    const event = setting.events.get(row.row.event_id);
    if (event === undefined) return `event ${row.row.event_id} is not in this run`;
    const earlier = fate.what === "changed" ? fate.known.record : undefined;
    if (earlier !== undefined && !mayReplace(author, earlier)) {
      return `it was changed, and only its author, ${earlier.actor}, can do that`;
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

  /** Links a row with the row that it says it replaces, unless that is of another author or already replaced. */
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
    // An interrupted push may have written the other half already.
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
    const content = judgmentOfRow(row);
    const { signal, note, confidence } = content;
    const target = targetOf(content, event, row.event_id);
    const aboutNode = target.nodeId ?? (target.eventId === event.eventId ? event.nodeId : undefined);
    const optional = {
      aboutNode,
      note: note === undefined ? undefined : scrub(note),
      confidence: actorKind === "agent" ? confidence : undefined,
      supersedes: supersedes?.annotationId,
      flag: signal.kind === "flag" ? { status: "open" as const } : undefined,
      importedBy,
    };
    return {
      annotationId,
      ...visibilityOf(owner),
      runId,
      workflowId,
      ...agentFields(agentsOfNode(run, aboutNode)),
      target,
      signal: scrubSignal(signal, scrub),
      actor,
      actorKind,
      createdAtMs: timeOf(row.timestamp, nowMs, supersedes?.createdAtMs),
      state: "live",
      ...defined(optional),
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

/** Whether a judgment that was made here replaces one that was imported in its author's name. */
function takesOver({ annotation, earlier }: Draft): boolean {
  return earlier !== undefined && isMadeHere(annotation) && !isMadeHere(earlier);
}

export function supersededBy(annotation: AnnotationRecord, by: AnnotationRecord): AnnotationRecord {
  const { annotationId, createdAtMs } = by;
  return { ...annotation, state: "superseded", supersededBy: annotationId, supersededAtMs: createdAtMs };
}

/** How often each key was used for a new chain of judgments. */
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

/** The time of a row: now where its timestamp is in the future, unreadable, or not later than that of the row it replaces. */
function timeOf(timestamp: string | null, nowMs: number, afterMs = -1): number {
  const ms = timestamp === null ? undefined : instantMs(timestamp);
  return ms === undefined || ms <= afterMs || ms > nowMs ? nowMs : ms;
}

interface RowAuthor {
  readonly actor: string;
  readonly actorKind: ActorKind;
  /** Present where the caller pushes a row of another author. */
  readonly importedBy?: string;
}

const KINDS = { human: "person", agent: "agent", system: "code" } as const;

const ACTOR_MAX = 256;

/** The author of a row: the caller unless it names another. Or the problem with it. */
function authorOf({ author }: Pick<Row, "author">, caller: Caller): RowAuthor | { readonly problem: string } {
  const id = authorNameOf({ author }, caller.principal);
  if (author === null || id === caller.principal) {
    return { actor: caller.principal, actorKind: actorKindOf(caller.kind) };
  }
  if (id.length > ACTOR_MAX || id.includes("\0")) return { problem: "the name of its author cannot be stored" };
  const actorKind = KINDS[author.kind];
  // Judgments of people are counted separately, so only people push them: an agent could appear as many people.
  if (actorKind === "person" && caller.kind !== "user") {
    return { problem: `it is ${id}'s, and only a key of kind user pushes judgments of people` };
  }
  return { actor: id, actorKind, importedBy: caller.principal };
}
