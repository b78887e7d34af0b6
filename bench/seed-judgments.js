// Judgments in numbers that nobody would wait for over HTTP, committed to the store in large units.
// Not type-checked: it imports the build, which a checkout may not have yet.
import { randomBytes } from "node:crypto";
import { sqlitePath } from "../dist/cli/database.js";
import { ENGINE_VERSION } from "../dist/protocol/events.js";
import { formatId } from "../dist/protocol/id.js";
import { fold } from "../dist/protocol/run.js";
import { openPostgresStore } from "../dist/store/postgres/postgres-store.js";
import { openSqliteStore } from "../dist/store/sqlite/sqlite-store.js";

const TENANT = "t1";
const PER_UNIT = 1000;
const WORKFLOWS = 20;
const START_MS = Date.parse("2026-01-01T00:00:00.000Z");
const SPAN_MS = 90 * 86_400_000;
const WORDS =
  "invoice total wrong tone missing table late answer polite customer refund policy draft summary link".split(" ");

export const workflowId = (n) => `bench-${n % WORKFLOWS}`;

/**
 * Ended runs of 20 workflows and 5 agents over 90 days, and judgments on them of 50 people, 2 agents and a check.
 * Resolves with the judgment in the middle.
 */
export async function seedJudgments(at, { runs, judgments }) {
  const store =
    at.database === undefined
      ? await openSqliteStore({ path: sqlitePath({ data: at.data }) })
      : await openPostgresStore({ url: at.database });
  const made = [];
  for (let n = 0; n < runs; n += PER_UNIT) {
    const some = Array.from({ length: Math.min(PER_UNIT, runs - n) }, (_, i) => runOf(n + i, runs));
    made.push(
      ...some.map(({ run }) => ({ runId: run.runId, workflowId: run.workflowId, agentId: run.metadata.agentId })),
    );
    await commit(store, { runs: some });
  }
  let middle;
  for (let n = 0; n < judgments; n += PER_UNIT) {
    const some = Array.from({ length: Math.min(PER_UNIT, judgments - n) }, (_, i) =>
      judgmentOf(n + i, judgments, made[(n + i) % made.length]),
    );
    if (n <= judgments / 2) middle = some[0];
    await commit(store, { annotations: some.map((annotation) => ({ type: "record", annotation })) });
  }
  await store.close();
  return middle;
}

async function commit(store, unit) {
  const audit = [
    {
      occurredAt: new Date(START_MS).toISOString(),
      actor: "bench",
      action: "bench.seed",
      target: "bench",
      details: {},
    },
  ];
  const committed = await store.commit({ tenant: TENANT, audit, ...unit });
  if (!committed.ok) throw new Error(`the seed was refused: ${JSON.stringify(committed.refusal)}`);
}

function runOf(n, runs) {
  const atMs = START_MS + Math.floor((n / runs) * SPAN_MS);
  const runId = idAt("run", atMs);
  const started = {
    workflowId: workflowId(n),
    workflowHash: "0".repeat(64),
    inputs: {},
    defaults: {},
    transport: "rest",
    engineVersion: String(ENGINE_VERSION),
    owner: { tenant: TENANT, principal: "bench" },
    limits: { nodeExecutions: 100 },
    metadata: { agentId: `agent-${n % 5}` },
  };
  const timestamp = new Date(atMs).toISOString();
  const events = [
    { type: "run.started", payload: started },
    { type: "run.completed", payload: { outputs: {} } },
  ].map((event, sequence) => ({ ...event, eventId: idAt("evt", atMs), runId, sequence, timestamp }));
  return { runId, expectedVersion: 0, events, run: fold(events) };
}

function judgmentOf(n, judgments, run) {
  const atMs = START_MS + Math.floor((n / judgments) * SPAN_MS);
  const signal = signalOf(n);
  const kind = n % 10;
  return {
    annotationId: idAt("ann", atMs),
    tenant: TENANT,
    ...run,
    target: n % 3 === 0 ? { nodeId: `node-${n % 7}` } : {},
    ...(n % 3 === 0 ? { aboutNode: `node-${n % 7}` } : {}),
    signal,
    ...(n % 2 === 0
      ? { note: Array.from({ length: 8 }, (_, i) => WORDS[(n * 7 + i * i) % WORDS.length]).join(" ") }
      : {}),
    actor: kind < 7 ? `person-${n % 50}` : kind < 9 ? `agent-${n % 2}` : "check",
    actorKind: kind < 7 ? "person" : kind < 9 ? "agent" : "code",
    createdAtMs: atMs,
    state: "live",
    ...(signal.kind === "flag" ? { flag: { status: "open" } } : {}),
  };
}

function signalOf(n) {
  const sort = Math.floor(n / 11) % 20;
  if (sort < 12) return { kind: "rating", rating: 1 + (n % 5) };
  if (sort < 15) return { kind: "label", label: ["pass", "fail", "tone", "length"][n % 4] };
  if (sort < 19)
    return { kind: "correction", correction: `Say it in fewer words, and name the ${WORDS[n % WORDS.length]}.` };
  return { kind: "flag" };
}

function idAt(prefix, atMs) {
  return formatId(prefix, atMs, randomBytes(10));
}
