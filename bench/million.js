// Reads of a million judgments in one SQLite file, against ten thousand: `node bench/million.js` after a build.
// The rows are written by SQL and not one by one, so that it takes seconds. Not type-checked: it imports the build, which
// a checkout may not have yet.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openForWriting } from "../dist/store/sqlite/open-database.js";
import { openSqliteStore } from "../dist/store/sqlite/sqlite-store.js";

const BEGIN_MS = 1_794_000_000_000;
const PER_RUN = 20;
const REPETITIONS = 15;
const everybody = { tenant: "t1" };

for (const judgments of [10_000, 1_000_000]) {
  const folder = mkdtempSync(join(tmpdir(), "assay-million-"));
  const path = join(folder, "assay.db");
  await (await openSqliteStore({ path })).close();
  await seed(path, judgments);
  const store = await openSqliteStore({ path });
  console.log(`${judgments.toLocaleString("en")} judgments on ${(judgments / PER_RUN).toLocaleString("en")} runs`);
  await measure(store, judgments);
  await store.close();
  rmSync(folder, { recursive: true });
}

async function seed(path, judgments) {
  const db = await openForWriting(path);
  const numbers = (below) =>
    `with recursive numbers(i) as (select 0 union all select i + 1 from numbers where i < ${below - 1})`;
  db.exec("begin");
  db.exec(`${numbers(judgments / PER_RUN)}
    insert into runs (run_id, tenant, workflow_id, workflow_hash, status, version, engine_version, state, created_at,
      updated_at, agent_id, intervened)
    select printf('run-%08d', i), 't1', 'wf-' || (i % 10), 'h', 'completed', 3, 2, '"${"x".repeat(600)}"',
      ${BEGIN_MS} + i * 1000, ${BEGIN_MS} + i * 1000, 'agent-' || (i % 5), i % 7 = 0 from numbers`);
  db.exec(`${numbers(judgments)}
    insert into annotations (tenant, annotation_id, run_id, workflow_id, agent_id, kind, rating, label, actor, actor_kind,
      created_at, state, flag_status, note)
    select 't1', printf('ann-%010d', i), printf('run-%08d', i / ${PER_RUN}), 'wf-' || ((i / ${PER_RUN}) % 10),
      'agent-' || ((i / ${PER_RUN}) % 5),
      case i % 4 when 0 then 'label' when 1 then 'flag' when 2 then 'correction' else 'rating' end,
      case when i % 4 = 3 then 1 + i % 5 end, case when i % 4 = 0 then 'label-' || (i % 30) end, 'p' || (i % 40), 'person',
      ${BEGIN_MS} + i * 50, 'live', case when i % 4 = 1 then case when i % 100 = 1 then 'open' else 'closed' end end,
      'a note of some words' from numbers`);
  const stars = [1, 2, 3, 4, 5].map((rating) => `sum(coalesce(rating, 0) = ${rating})`);
  db.exec(`insert into run_feedback select tenant, run_id, '', actor_kind, count(*), ${stars}, sum(kind = 'correction'),
    sum(kind = 'flag'), 0, 0 from annotations group by tenant, run_id, actor_kind`);
  db.exec(`insert into run_labels select tenant, run_id, '', actor_kind, label, count(*) from annotations
    where label is not null group by tenant, run_id, actor_kind, label`);
  db.exec("commit");
  db.close();
}

async function measure(store, judgments) {
  const list = (query) => () => store.listAnnotations(everybody, { limit: 100, order: "newest", ...query });
  const middle = { createdAtMs: BEGIN_MS + (judgments / 2) * 50, annotationId: "" };
  await report("100, newest first", list({}));
  await report("100 from the middle", list({ after: middle }));
  await report("100 of a workflow", list({ workflowId: "wf-3" }));
  await report("100 of an actor", list({ actor: "p7" }));
  await report("100 of a label", list({ label: "label-4" }));
  await report("100 open flags", list({ flag: "open" }));
  await report("100 of a kind", list({ kind: "correction" }));
  await report("summary of all", () => store.feedbackSummary(everybody, {}));
  await report("summary by workflow", () => store.feedbackSummary(everybody, { groupBy: "workflow" }));
  const fromMs = BEGIN_MS + (judgments / PER_RUN - 500) * 1000;
  await report("summary of the last 500 runs", () => store.feedbackSummary(everybody, { fromMs }));
  const stallMs = await longestStall(() => store.feedbackSummary(everybody, {}));
  console.log(`  ${"longest stall during a summary".padEnd(32)} ${stallMs.toFixed(1)} ms`);
}

async function report(name, read) {
  await read();
  const times = [];
  for (let i = 0; i < REPETITIONS; i++) {
    const startedMs = performance.now();
    await read();
    times.push(performance.now() - startedMs);
  }
  times.sort((a, b) => a - b);
  const median = times[REPETITIONS >> 1] ?? 0;
  console.log(`  ${name.padEnd(32)} ${median.toFixed(2)} ms, at most ${(times.at(-1) ?? 0).toFixed(2)} ms`);
}

/** How long nobody else in the process got a turn. */
async function longestStall(work) {
  let longest = 0;
  let last = performance.now();
  let working = true;
  const look = () => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    if (working) setImmediate(look);
  };
  setImmediate(look);
  await work();
  working = false;
  return longest;
}
