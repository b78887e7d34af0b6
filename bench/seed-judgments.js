// Judgments in numbers that nobody would wait for over HTTP, committed to the store in large units.
// Not type-checked: it imports the build, which a checkout may not have yet.
import { randomBytes } from "node:crypto";
import { sqlitePath } from "../dist/cli/server/database.js";
import { ENGINE_VERSION } from "../dist/protocol/events.js";
import { formatId } from "../dist/protocol/id.js";
import { fold } from "../dist/protocol/runs/run.js";
import { openPostgresStore } from "../dist/store/postgres/postgres-store.js";
import { openSqliteStore } from "../dist/store/sqlite/sqlite-store.js";

const TENANT = "t1";
const PER_UNIT = 1000;
const WORKFLOWS = 20;
const START_MS = Date.parse("2026-01-01T00:00:00.000Z");
const SPAN_MS = 90 * 86_400_000;
const WORDS =
  "invoice total wrong tone missing table late answer polite customer refund policy draft summary link".split(" ");

/** The same for the same number, and for another salt of no relation to it. */
function roll(n, salt, below) {
  let x = Math.imul(n ^ Math.imul(salt, 0x9e3779b1), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 15), 0xc2b2ae35);
  return ((x ^ (x >>> 13)) >>> 0) % below;
}

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
      judgmentOf(n + i, judgments, made[roll(n + i, 2, made.length)]),
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
    workflowId: `bench-${n % WORKFLOWS}`,
    workflowHash: "0".repeat(64),
    inputs: {},
    defaults: {},
    transport: "rest",
    engineVersion: String(ENGINE_VERSION),
    owner: { tenant: TENANT, principal: "bench" },
    limits: { nodeExecutions: 100 },
    metadata: { agentId: `agent-${roll(n, 1, 5)}` },
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
  const who = roll(n, 3, 10);
  const nodeId = `node-${roll(n, 4, 7)}`;
  const isOfNode = roll(n, 5, 3) === 0;
  const note = Array.from({ length: 8 }, (_, i) => WORDS[roll(n, 100 + i, WORDS.length)]).join(" ");
  return {
    annotationId: idAt("ann", atMs),
    tenant: TENANT,
    ...run,
    target: isOfNode ? { nodeId } : {},
    ...(isOfNode ? { aboutNode: nodeId } : {}),
    signal,
    ...(roll(n, 6, 2) === 0 ? { note } : {}),
    actor: who < 7 ? `person-${roll(n, 7, 50)}` : who < 9 ? `agent-${roll(n, 8, 2)}` : "check",
    actorKind: who < 7 ? "person" : who < 9 ? "agent" : "code",
    createdAtMs: atMs,
    state: "live",
    ...(signal.kind === "flag" ? { flag: { status: "open" } } : {}),
  };
}

function signalOf(n) {
  const sort = roll(n, 9, 20);
  if (sort < 12) return { kind: "rating", rating: 1 + roll(n, 10, 5) };
  if (sort < 15) return { kind: "label", label: ["pass", "fail", "tone", "length"][roll(n, 11, 4)] };
  if (sort === 19) return { kind: "flag" };
  return { kind: "correction", correction: `Say it in fewer words, and name the ${WORDS[roll(n, 12, WORDS.length)]}.` };
}

function idAt(prefix, atMs) {
  return formatId(prefix, atMs, randomBytes(10));
}
