import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import { ENGINE_VERSION } from "../../protocol/events.ts";
import type { Voter } from "../../protocol/gates/gate-rules.ts";
import type {
  DecideRequest,
  DecideResponse,
  InboxItem,
  InboxQuery,
  InboxResponse,
} from "../../protocol/gates/inbox-api.ts";
import { isId } from "../../protocol/id.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Secret } from "../../protocol/runs/sensitive.ts";
import { secretsOf } from "../../protocol/runs/snapshot.ts";
import type { StoredInterrupt } from "../../store/port/gates.ts";
import type { Host } from "../host.ts";
import { withReadRoom } from "../worker/run-room.ts";
import { itemFor, type ShownItem, shownItem, voteOf, waitsFor } from "./decide/inbox-item.ts";
import { resolveInterrupt } from "./resolve-interrupt.ts";
import { voterOf } from "./voter.ts";

const DEFAULT_LIMIT = 50;
const ROWS_AT_ONCE = 200;
/** Rows that one request examines: beyond them the page ends short, with a cursor to continue from. */
const ROWS_MAX = 2000;

type GateQuery = Omit<InboxQuery, "flagged" | "flaggedCursor">;

/** The open interrupts that the caller may decide, oldest first. A short page with a cursor is not the last. */
export async function readInbox(host: Host, caller: Caller, query: GateQuery): Promise<InboxResponse> {
  const { limit = DEFAULT_LIMIT, cursor, mine, ...filter } = query;
  await requireCursor(host, caller, cursor);
  const voterFor = votersFor(host, caller);
  const nowMs = host.nowMs();
  const items: InboxItem[] = [];
  let taken = 0;
  let after = cursor;
  for (let looked = 0; looked < ROWS_MAX; ) {
    const page = { ...filter, nowMs, limit: ROWS_AT_ONCE, ...defined({ after }) };
    const rows = await host.store.openInterrupts(caller, page);
    if (rows.length === 0) return { items };
    looked += rows.length;
    // An item is short; what it is about may be megabytes, and is let go of with its page.
    const found: StoredInterrupt[] = [];
    for (const row of rows) {
      if (taken === limit)
        return { items: [...items, ...(await itemsOf(host, caller, found))], nextCursor: after as string };
      after = row.interruptId;
      if (!waitsFor(row, await voterFor(row))) continue;
      const voted = voteOf(row.interrupt, caller.principal) !== undefined;
      if (mine !== undefined && voted !== (mine === "true")) continue;
      found.push(row);
      taken += 1;
    }
    items.push(...(await itemsOf(host, caller, found)));
  }
  return defined({ items, nextCursor: after });
}

/** A cursor is the id of an interrupt that the caller can see. */
async function requireCursor({ store }: Host, caller: Caller, cursor: string | undefined): Promise<void> {
  if (cursor === undefined) return;
  const given = cursor.startsWith("int-") && isId(cursor) && (await store.readInterrupt(caller, cursor)) !== undefined;
  if (!given) throw validationError("cursor is not one this host gave out");
}

/** The caller as a voter in the workspaces of interrupts; each workspace is looked up once. */
export function votersFor(host: Pick<Host, "store">, caller: Caller): (row: StoredInterrupt) => Promise<Voter> {
  const voters = new Map<string | undefined, Promise<Voter>>();
  return (row) => {
    const voter = voters.get(row.workspace) ?? voterOf(host, caller, row);
    voters.set(row.workspace, voter);
    return voter;
  };
}

/** Showing an interrupt takes its whole run, and a run can be large. */
const RUNS_AT_ONCE = 8;

/** A run is read once for all of its interrupts on the page: it may have hundreds. */
async function itemsOf(host: Host, { principal }: Caller, rows: readonly StoredInterrupt[]): Promise<InboxItem[]> {
  const firsts = [...new Map(rows.map((row) => [row.runId, row])).values()];
  const secrets = new Map<string, readonly Secret[] | undefined>();
  for (let i = 0; i < firsts.length; i += RUNS_AT_ONCE) {
    const some = firsts.slice(i, i + RUNS_AT_ONCE);
    const found = await Promise.all(some.map((row) => secretsBehind(host, row)));
    for (const [at, { runId }] of some.entries()) secrets.set(runId, found[at]);
  }
  const nowMs = host.nowMs();
  return rows.flatMap((row) => {
    const ofRun = secrets.get(row.runId);
    return ofRun === undefined ? [] : itemFor(shownItem(row, ofRun), principal, nowMs);
  });
}

type Shows = Pick<Host, "store" | "plans" | "room">;

/**
 * Open interrupts as an inbox shows them, with the sensitive values of their runs masked. Each run is read once, however many of its interrupts
 * are shown. Undefined where one cannot be answered now: its run is being cancelled, or needs a newer host.
 */
export function gateViews(host: Shows): (row: StoredInterrupt) => Promise<ShownItem | undefined> {
  const secrets = new Map<string, ReturnType<typeof secretsBehind>>();
  return async (row) => {
    const reading = secrets.get(row.runId) ?? secretsBehind(host, row);
    secrets.set(row.runId, reading);
    const ofRun = await reading;
    return ofRun && shownItem(row, ofRun);
  };
}

/** The secrets of a run. A large run is read when there is room for it, and not kept. */
function secretsBehind(host: Shows, { tenant, runId }: StoredInterrupt): Promise<readonly Secret[] | undefined> {
  return withReadRoom(host, async (room) => {
    const run = await host.store.readRun({ tenant, ...room }, runId);
    if (run === undefined || run.status === "cancelling" || run.engineVersion > ENGINE_VERSION) return undefined;
    // Its sensitive values are not known, so nothing of the gate can be shown; the first answer ends the run.
    if (run.stateOmitted !== undefined) return undefined;
    const { sensitivity } = await host.plans.byHash(run.workflowHash);
    return secretsOf(run, sensitivity);
  });
}

type Item = DecideRequest["items"][number];
type Result = DecideResponse["results"][number];

const DECIDED_AT_ONCE = 16;

/** One result per item, in order; one that fails does not stop the others. Answers to one run are given one after the other. */
export async function decideInbox(host: Host, caller: Caller, { items }: DecideRequest): Promise<DecideResponse> {
  const notFound = new AppError("interrupt_not_found");
  const results: Result[] = items.map(({ interruptId }) => failed(host, interruptId, notFound));
  const byRun = new Map<string, number[]>();
  // One by one: gates may show much, and only their runs are kept.
  for (const [i, { interruptId }] of items.entries()) {
    const row = await host.store.readInterrupt(caller, interruptId);
    if (row !== undefined) byRun.set(row.runId, [...(byRun.get(row.runId) ?? []), i]);
  }
  const runs = [...byRun];
  const work = async () => {
    for (let run = runs.shift(); run !== undefined; run = runs.shift()) {
      const [runId, places] = run;
      for (const i of places) results[i] = await decideOne(host, caller, runId, items[i] as Item);
    }
  };
  await Promise.all(Array.from({ length: DECIDED_AT_ONCE }, work));
  return { results };
}

async function decideOne(
  host: Host,
  caller: Caller,
  runId: string,
  { interruptId, resumeValue: value, revision, artifactDigest }: Item,
): Promise<Result> {
  const record = () => undefined;
  const bound = defined({ interruptId, revision, artifactDigest });
  try {
    return {
      ok: true,
      ...(await resolveInterrupt(host, { caller, runId, of: { interruptId }, value, bound, record })),
    };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { ...failed(host, interruptId, error), runId };
  }
}

/** Scrubbed like any other error: it repeats parts of the request, and is kept under an idempotency key. */
function failed({ scrubber }: Host, interruptId: string, { code, message, details }: AppError): Result {
  return scrubber.scrubValue({ interruptId, ok: false, error: { error: code, message, details: { ...details } } });
}
