import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import { ENGINE_VERSION } from "../../protocol/events.ts";
import type { Voter } from "../../protocol/gates/gate-rules.ts";
import type { InboxItem, InboxQuery, InboxResponse } from "../../protocol/gates/inbox-api.ts";
import { isId } from "../../protocol/id.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Secret } from "../../protocol/runs/sensitive.ts";
import { secretsOf } from "../../protocol/runs/snapshot.ts";
import type { StoredInterrupt } from "../../store/port/gates.ts";
import type { Host } from "../host.ts";
import { roomOf } from "../worker/run-room.ts";
import { itemFor, type ShownItem, shownItem, voteOf, waitsFor } from "./decide/inbox-item.ts";
import { voterOf } from "./voter.ts";

const DEFAULT_LIMIT = 50;
const ROWS_AT_ONCE = 200;
/** What one request looks at: beyond it the page ends short, and its cursor goes on from there. */
const ROWS_MAX = 2000;

export type GateQuery = Omit<InboxQuery, "flagged" | "flaggedCursor">;

/** What the caller may decide now, oldest first. A page may be short while there is more; then it has a cursor. */
export async function readInbox(host: Host, caller: Caller, query: GateQuery): Promise<InboxResponse> {
  const { limit = DEFAULT_LIMIT, cursor, mine, ...filter } = query;
  await requireCursor(host, caller, cursor);
  const judges = votersFor(host, caller);
  const nowMs = host.nowMs();
  const found: StoredInterrupt[] = [];
  let after = cursor;
  for (let looked = 0; looked < ROWS_MAX; looked += ROWS_AT_ONCE) {
    const page = { ...filter, nowMs, limit: ROWS_AT_ONCE, ...defined({ after }) };
    const rows = await host.store.openInterrupts(caller, page);
    for (const row of rows) {
      if (found.length === limit) return { items: await itemsOf(host, caller, found), nextCursor: after as string };
      after = row.interruptId;
      if (!waitsFor(row, await judges(row))) continue;
      const voted = voteOf(row.interrupt, caller.principal) !== undefined;
      if (mine === undefined || voted === (mine === "true")) found.push(row);
    }
    if (rows.length < ROWS_AT_ONCE) return { items: await itemsOf(host, caller, found) };
  }
  return defined({ items: await itemsOf(host, caller, found), nextCursor: after });
}

/** A cursor is the id of an interrupt that the caller can see. */
async function requireCursor({ store }: Host, caller: Caller, cursor: string | undefined): Promise<void> {
  if (cursor === undefined) return;
  const given = cursor.startsWith("int-") && isId(cursor) && (await store.readInterrupt(caller, cursor)) !== undefined;
  if (!given) throw new AppError("validation_error", { problem: "cursor is not one this host gave out" });
}

/** The caller as the workspaces see it, each asked once. */
export function votersFor(host: Pick<Host, "store">, caller: Caller): (row: StoredInterrupt) => Promise<Voter> {
  const voters = new Map<string | undefined, Promise<Voter>>();
  return ({ tenant, workspace }) => {
    const owner = workspace === undefined ? { tenant } : { tenant, workspace };
    const answerer = voters.get(workspace) ?? voterOf(host, caller, owner);
    voters.set(workspace, answerer);
    return answerer;
  };
}

/** Each is shown with the help of its whole run, and a run can be large. */
const RUNS_AT_ONCE = 8;

/** A run is read once for all of its gates on the page: it may have hundreds. */
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
 * What is shown of an open interrupt, without the sensitive values of its run. Undefined when nobody can answer it here
 * and now: its run is being cancelled, or is one for a newer host.
 */
export async function showGate(host: Shows, row: StoredInterrupt): Promise<ShownItem | undefined> {
  const secrets = await secretsBehind(host, row);
  return secrets === undefined ? undefined : shownItem(row, secrets);
}

/** Large runs are read as there is room for them, and let go of at once: only their secrets are kept. */
async function secretsBehind(host: Shows, { tenant, runId }: StoredInterrupt): Promise<readonly Secret[] | undefined> {
  const releases: (() => void)[] = [];
  const beforeLargeRead = async (bytes: number) => {
    releases.push(await roomOf(host).read(bytes));
  };
  try {
    const run = await host.store.readRun({ tenant, beforeLargeRead }, runId);
    if (run === undefined || run.status === "cancelling" || run.engineVersion > ENGINE_VERSION) return undefined;
    // Its sensitive values are not known, so nothing of the gate can be shown; the first answer ends the run.
    if (run.stateOmitted !== undefined) return undefined;
    const { sensitivity } = await host.plans.byHash(run.workflowHash);
    return secretsOf(run, sensitivity);
  } finally {
    for (const release of releases) release();
  }
}
