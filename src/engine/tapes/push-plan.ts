import { judgmentOfRow } from "../../formats/tapes/sidecar/judgment-rows.ts";
import { fileLines } from "../../formats/tapes/sidecar/row-lines.ts";
import { AppError } from "../../protocol/errors.ts";
import type { StoredSidecar } from "../../store/port/tapes.ts";
import type { Host } from "../host.ts";
import { actorKindOf } from "../judgments/decide/annotate.ts";
import { mayOverrule } from "../judgments/may-replace.ts";
import { type JudgedRow, judgedRows } from "./judged-rows.ts";
import { type Draft, type DraftSetting, draftsOf, type RowProblem } from "./push-drafts.ts";
import { type Fate, fatesOf } from "./push-fates.ts";
import type { CleanSidecar, PushSidecar } from "./push-sidecar.ts";
import { RowEvents } from "./row-events.ts";
import { rowAnnotationId } from "./row-id.ts";
import { rowLinesInTurns } from "./turns.ts";

/** What a push comes to, given what is here now. */
export interface PushPlan {
  readonly fates: readonly Fate[];
  readonly drafts: readonly Draft[];
  /** To be retracted. */
  readonly pruned: readonly JudgedRow[];
  /** Judgments that count, that the caller may see, and that the file does not have. */
  readonly onlyHere: readonly JudgedRow[];
  /** To be stored; undefined when it is what is stored already. */
  readonly sidecar?: StoredSidecar;
}

/** Throws when any row cannot be taken. */
export async function planPush(host: Host, push: PushSidecar, clean: CleanSidecar): Promise<PushPlan> {
  const { caller, run, request, mayImport } = push;
  const { store } = host;
  const stored = await store.readSidecar(caller, run.runId);
  await requireTape(host, push, clean);
  const judged = await judgedRows(host, caller, run);
  const fates = fatesOf(clean.rows, judged.standing, caller);
  const setting = await settingOf(host, push, fates);
  const { drafts, problems, replaced } = draftsOf(fates, judged, setting);
  if (problems.length > 0) throw refusalOf(problems);
  if (drafts.some(({ annotation }) => annotation.importedBy !== undefined)) await mayImport();
  const inFile = new Set(fates.flatMap((fate) => ("known" in fate ? [fate.known] : [])));
  const missing = judged.standing.filter((row) => row.state === "live" && !inFile.has(row) && !replaced.has(row));
  const wasThere = request.prune ? await keysOf(stored) : new Set<string>();
  const actorKind = actorKindOf(caller.kind);
  const isPruned = ({ record, key }: JudgedRow) =>
    request.prune === true &&
    record.actor === caller.principal &&
    mayOverrule({ actorKind }, record) &&
    (record.tapeRow !== undefined || wasThere.has(key));
  return {
    fates,
    drafts,
    pruned: missing.filter(isPruned),
    onlyHere: missing.filter((row) => !row.hidden && !isPruned(row)),
    ...(stored?.text === clean.text ? {} : { sidecar: sidecarOf(host, push, clean, stored) }),
  };
}

/** Judgments about one recording must not be hung on the events of another. */
async function requireTape({ store }: Host, { caller, run }: PushSidecar, { header }: CleanSidecar): Promise<void> {
  const named = header.tape_content_hash;
  if (named === null) return;
  const tape = await store.readTape(caller, run.runId);
  if (tape === undefined || tape.digest === named) return;
  const problem = `its header is about the tape with digest ${named}, and this run is of ${tape.digest}`;
  throw new AppError("sidecar_refused", { problem });
}

async function settingOf(host: Host, { caller, run }: PushSidecar, fates: readonly Fate[]): Promise<DraftSetting> {
  const wanted = fates.filter(({ what }) => what === "new" || what === "changed").map(({ row }) => row.row);
  const targets = wanted.flatMap((row) => judgmentOfRow(row).target ?? []);
  const events = new RowEvents(host.store, run);
  const numbers = await events.numbersOf(new Set(targets.flatMap(({ eventId }) => eventId ?? [])));
  const namesNode = targets.some(({ nodeId }) => nodeId !== undefined);
  const nodes = namesNode ? (await host.plans.byHash(run.workflowHash)).graph.node : new Map<string, unknown>();
  return {
    caller,
    run,
    nowMs: host.nowMs(),
    events: await events.find(new Set(wanted.map(({ event_id }) => event_id))),
    idOf: (place, key, use, replaces) => rowAnnotationId(run.runId, place, JSON.stringify([key, use, replaces])),
    isTarget: ({ eventId, nodeId }, number) =>
      (eventId === undefined || numbers.get(eventId) === number) && (nodeId === undefined || nodes.has(nodeId)),
    scrub: host.scrubber.scrubText,
  };
}

async function keysOf(stored: StoredSidecar | undefined): Promise<ReadonlySet<string>> {
  if (stored === undefined) return new Set();
  const { rows } = await rowLinesInTurns(fileLines(stored.text));
  return new Set(rows.map(({ key }) => key));
}

function sidecarOf(
  host: Host,
  { caller, run }: PushSidecar,
  { text }: CleanSidecar,
  stored: StoredSidecar | undefined,
) {
  const revision = (stored?.revision ?? 0) + 1;
  return { runId: run.runId, revision, text, pushedBy: caller.principal, pushedAtMs: host.nowMs() };
}

/** As many as a message has room for. */
const TOLD_MAX = 5;
const LISTED_MAX = 100;

function refusalOf(problems: readonly RowProblem[]): AppError {
  const told = problems.slice(0, TOLD_MAX).map(({ line, problem }) => `line ${line}: ${problem}`);
  const more = problems.length > TOLD_MAX ? `; and ${problems.length - TOLD_MAX} more lines` : "";
  return new AppError("sidecar_refused", {
    problem: told.join("; ") + more,
    problems: problems.slice(0, LISTED_MAX),
    count: problems.length,
  });
}
