import { judgmentOfRow } from "../../formats/tapes/sidecar/judgment-rows.ts";
import { fileLines, type RowLine, rowKey } from "../../formats/tapes/sidecar/row-lines.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { StoredSidecar } from "../../store/port/tapes.ts";
import type { Host } from "../host.ts";
import { actorKindOf } from "../judgments/decide/annotate.ts";
import { isMadeHere, mayOverrule, mayReplace } from "../judgments/may-replace.ts";
import { type JudgedRow, judgedRows, pairByAuthor } from "./judged-rows.ts";
import { type Draft, type DraftSetting, draftsOf, type RowProblem } from "./push-drafts.ts";
import type { CleanSidecar, PushSidecar } from "./push-sidecar.ts";
import { RowEvents, rowAnnotationId } from "./row-events.ts";
import { rowLinesInTurns } from "./tape-lines.ts";

/** The effects of a push, given the stored judgments. */
export interface PushPlan {
  readonly fates: readonly Fate[];
  readonly drafts: readonly Draft[];
  /** Judgments to be retracted. */
  readonly pruned: readonly JudgedRow[];
  /** Live judgments that the caller may see and that the file does not have. */
  readonly onlyHere: readonly JudgedRow[];
  /** The file to be stored; undefined where it is stored already. */
  readonly sidecar?: StoredSidecar;
}

/** Plans a push. Throws where a row is refused. */
export async function planPush(host: Host, push: PushSidecar, clean: CleanSidecar): Promise<PushPlan> {
  const { caller, run, request, mayImport } = push;
  const { store } = host;
  const stored = await store.readSidecar(caller, run.runId);
  await requireTape(host, push, clean);
  const judged = await judgedRows(host, caller, run);
  const fates = fatesOf(clean.rows, judged.current, caller);
  const setting = await settingOf(host, push, fates);
  const { drafts, problems, replaced } = draftsOf(fates, judged, setting);
  if (problems.length > 0) throw refusalOf(problems);
  if (drafts.some(({ annotation }) => annotation.importedBy !== undefined)) await mayImport();
  const inFile = new Set(fates.flatMap((fate) => ("known" in fate ? [fate.known] : [])));
  const missing = judged.current.filter((row) => row.state === "live" && !inFile.has(row) && !replaced.has(row));
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

/** Refuses a sidecar of another tape: its judgments would be about wrong events. */
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

/** Problems in the message of a refusal, and in its details. */
const QUOTED_MAX = 5;
const LISTED_MAX = 100;

function refusalOf(problems: readonly RowProblem[]): AppError {
  const count = problems.length;
  const quoted = problems.slice(0, QUOTED_MAX).map(({ line, problem }) => `line ${line}: ${problem}`);
  const problem = quoted.join("; ") + (count > QUOTED_MAX ? `; and ${count - QUOTED_MAX} more lines` : "");
  return new AppError("sidecar_refused", { problem, problems: problems.slice(0, LISTED_MAX), count });
}

/** The effect of a push on a row. */
export type Fate =
  | { readonly row: RowLine; readonly what: "new" }
  /** The row names no author, and may be the caller's own or a copy of another author's. */
  | { readonly row: RowLine; readonly what: "ambiguous"; readonly author: string }
  | { readonly row: RowLine; readonly what: "changed" | "unchanged" | "withdrawn"; readonly known: JudgedRow };

/**
 * The effect of each row. An unchanged row has none. A retracted row stays retracted, and an edit of a row that was replaced by another row or a later
 * judgment has no effect. A judgment that was imported in the caller's name is a claim of its importer: the caller's own row replaces it, or is new
 * where the claim is not live any more.
 */
export function fatesOf(
  rows: readonly RowLine[],
  current: readonly JudgedRow[],
  { principal, kind }: Pick<Caller, "principal" | "kind">,
): Fate[] {
  const pairs = pairByAuthor(rows, current, principal);
  const others = authorsOfOthers(current, principal);
  const caller = { actor: principal, actorKind: actorKindOf(kind) };
  return rows.map((row): Fate => {
    const known = pairs.get(row);
    if (known === undefined) {
      const author = row.row.author?.id ? undefined : others.get(row.key);
      return author === undefined ? { row, what: "new" } : { row, what: "ambiguous", author };
    }
    if (known.record.actor === principal && !isMadeHere(known.record)) {
      const replaces = known.state === "live" && mayReplace(caller, known.record);
      return replaces ? { row, what: "changed", known } : { row, what: "new" };
    }
    if (known.state === "retracted") return { row, what: "withdrawn", known };
    const same = row.text === known.came || row.text === known.named || known.state === "superseded";
    return { row, what: same ? "unchanged" : "changed", known };
  });
}

/** The authors of visible rows of others, by the key of the pushed row. */
function authorsOfOthers(current: readonly JudgedRow[], principal: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { id, came, record, hidden } of current) {
    if (record.actor !== principal && !hidden) found.set(rowKey(id, came), record.actor);
  }
  return found;
}
