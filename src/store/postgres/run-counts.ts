import type { RunStatus } from "../../protocol/runs/run-status.ts";
import { type CountChanges, countChanges, refusalToCreate } from "../port/creation-limits.ts";
import type { Refusal } from "../port/store.ts";
import type { RunFamiliesTable } from "../schema/tables.ts";
import type { PreparedUnit } from "./prepare-unit.ts";
import { sorted } from "./row-order.ts";
import { byKey, change, type Question, type RowsOf, type Standing } from "./standing.ts";
import type { StandingRows } from "./standing-rows.ts";
import { insertInto, type Statement, update } from "./statements.ts";

/** So many rows hold the count of a tenant: hosts rarely wait for each other at one, and their sum is read quickly. */
const SHARDS = 64;

/** Closer to its limit than this, creations of a tenant take turns; further away no batch of any host can pass the limit. */
const NEAR = 10_000;

/** A count is read again after so long: all hosts together create fewer runs of a tenant meanwhile than `NEAR`. */
const KEPT_MS = 200;

interface SeenCount {
  readonly active: number;
  readonly atMs: number;
}

/** What a process remembers between batches about the counts of runs. */
export class RunCounting {
  readonly shard: number;
  /** By tenant, as last read. */
  readonly #seen = new Map<string, SeenCount>();

  readonly #nowMs: () => number;

  /** @param sender a UUID */
  constructor(sender: string, nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
    this.shard = Number.parseInt(sender.slice(0, 8), 16) % SHARDS;
  }

  isNear(tenant: string, limit: number): boolean {
    return (this.lastSeen(tenant) ?? Number.POSITIVE_INFINITY) + NEAR > limit;
  }

  /** Whether the count is to be read: near the limit always, elsewhere from time to time. */
  isDue(tenant: string, limit: number): boolean {
    const seen = this.#seen.get(tenant);
    return seen === undefined || this.isNear(tenant, limit) || this.#nowMs() - seen.atMs > KEPT_MS;
  }

  lastSeen(tenant: string): number | undefined {
    return this.#seen.get(tenant)?.active;
  }

  remember(counts: ReadonlyMap<string, number>): void {
    if (this.#seen.size > 10_000) this.#seen.clear();
    const atMs = this.#nowMs();
    for (const [tenant, active] of counts) this.#seen.set(tenant, { active, atMs });
  }
}

export interface StandingCounts {
  readonly families: Map<string, Standing<RunFamiliesTable>>;
  /** Runs of a tenant that have not ended: as read in this batch, or a moment ago where the limit is far away. */
  readonly activeRuns: (tenant: string) => number;
  /** What the accepted units change, by tenant. */
  readonly activeChanges: Map<string, number>;
}

const LOCK_FAMILIES = `select root_run_id, tenant, descendants, cancelled_at
  from run_families where root_run_id = any($1) order by root_run_id for update`;

export function familyQuestions(batch: readonly PreparedUnit[]): Question[] {
  const roots = batch.flatMap(({ unit, runs }) => [
    ...runs.flatMap(({ write, columns }) => (write.expectedVersion === 0 ? (columns.root_run_id ?? []) : [])),
    ...(unit.cancelledFamilies ?? []).map(({ rootRunId }) => rootRunId),
  ]);
  return [{ name: "lock families", text: LOCK_FAMILIES, values: [[...new Set(roots)]] }];
}

// A creation without a row to lock must meet others too, so the lock is one of a name and not of a row.
const MEET = `select pg_advisory_xact_lock(hashtextextended(tenant, 1163))
  from (select tenant from unnest($1::text[]) as given(tenant) order by tenant) as ordered`;

const READ_ACTIVE_RUNS =
  "select tenant, sum(active)::float8 as active from tenant_runs where tenant = any($1) group by tenant";

/** The last questions of a batch: the lock of a tenant is taken after all locks of rows, and its count is read under it. */
export function activeRunQuestions(batch: readonly PreparedUnit[], counting: RunCounting): Question[] {
  const limits = new Map<string, number>();
  for (const { unit, runs } of batch) {
    const { tenant, creationLimits } = unit;
    if (creationLimits === undefined || !runs.some(({ write }) => write.expectedVersion === 0)) continue;
    limits.set(tenant, Math.min(creationLimits.activeRuns, limits.get(tenant) ?? creationLimits.activeRuns));
  }
  const those = (wanted: (tenant: string, limit: number) => boolean) =>
    [...limits].filter(([tenant, limit]) => wanted(tenant, limit)).map(([tenant]) => tenant);
  return [
    { name: "meet at tenants", text: MEET, values: [those((tenant, limit) => counting.isNear(tenant, limit))] },
    {
      name: "read active runs",
      text: READ_ACTIVE_RUNS,
      values: [those((tenant, limit) => counting.isDue(tenant, limit))],
    },
  ];
}

export function standingCounts(rowsOf: RowsOf, counting: RunCounting): StandingCounts {
  const read = new Map<string, number>(rowsOf("read active runs").map((row) => [row.tenant, row.active]));
  counting.remember(read);
  const activeRuns = (tenant: string) => read.get(tenant) ?? counting.lastSeen(tenant) ?? 0;
  const families = byKey<RunFamiliesTable, RunFamiliesTable>(rowsOf("lock families"), (row) => [row.root_run_id, row]);
  return { families, activeRuns, activeChanges: new Map() };
}

function changesOf({ runs }: PreparedUnit, standing: StandingRows): CountChanges {
  return countChanges(
    runs.map(({ write, columns }) => ({
      before: standing.runs.get(write.runId)?.row.status as RunStatus | undefined,
      after: write.run.status,
      rootRunId: columns.root_run_id,
    })),
  );
}

export function checkRunCounts(prepared: PreparedUnit, standing: StandingRows): Refusal | undefined {
  const { tenant, creationLimits } = prepared.unit;
  const activeNow = () => standing.activeRuns(tenant) + (standing.activeChanges.get(tenant) ?? 0);
  const familyOf = (rootRunId: string) => standing.families.get(rootRunId)?.row;
  return refusalToCreate(changesOf(prepared, standing), creationLimits, activeNow, familyOf);
}

/** Called before the runs of the unit change in `standing`. */
export function applyRunCounts(prepared: PreparedUnit, standing: StandingRows): void {
  const { tenant, cancelledFamilies = [] } = prepared.unit;
  const { active, descendants } = changesOf(prepared, standing);
  if (active !== 0) standing.activeChanges.set(tenant, (standing.activeChanges.get(tenant) ?? 0) + active);
  const familyOf = (root_run_id: string): RunFamiliesTable =>
    standing.families.get(root_run_id)?.row ?? { root_run_id, tenant, descendants: 0, cancelled_at: null };
  for (const [rootRunId, added] of descendants) {
    const family = familyOf(rootRunId);
    change(standing.families, rootRunId, { ...family, descendants: family.descendants + added });
  }
  for (const { rootRunId, atMs } of cancelledFamilies) {
    const family = familyOf(rootRunId);
    if (family.tenant !== tenant) continue;
    change(standing.families, rootRunId, { ...family, cancelled_at: family.cancelled_at ?? atMs });
  }
}

const addActiveRuns = insertInto(
  "tenant_runs",
  { tenant: "text", shard: "integer", active: "bigint" } as const,
  "on conflict (tenant, shard) do update set active = tenant_runs.active + excluded.active",
);

/** The first write of a batch: a host that waits here for another one holds nothing that the other one still needs. */
export function writeActiveRuns({ activeChanges }: StandingRows, { shard }: RunCounting): Statement[] {
  const changed = [...activeChanges].filter(([, active]) => active !== 0);
  return addActiveRuns(
    sorted(
      changed.map(([tenant, active]) => ({ tenant, shard, active })),
      (row) => [row.tenant],
    ),
  );
}

const FAMILY = { root_run_id: "text", tenant: "text", descendants: "bigint", cancelled_at: "bigint" } as const;
const updateFamilies = update("run_families", FAMILY, ["root_run_id"]);
const insertFamilies = insertInto("run_families", FAMILY);

export function writeFamilies({ families }: StandingRows): Statement[] {
  const changed = [...families.values()].filter((standing) => standing.changed);
  const rowsOf = (stored: boolean) => changed.filter((one) => one.stored === stored).map(({ row }) => row);
  return [...updateFamilies(rowsOf(true)), ...insertFamilies(sorted(rowsOf(false), (row) => [row.root_run_id]))];
}
