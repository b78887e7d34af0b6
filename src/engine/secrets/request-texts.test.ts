import { describe, expect, test } from "vitest";
import { scrubber } from "../../formats/secrets/scrub.ts";
import { MASK } from "../../protocol/events.ts";
import type { Judgment } from "../../protocol/judgments/judgment-file.ts";
import { ADA, begin, engineOn, logOf, register, until } from "../../testing/engine.ts";
import { HEADER } from "../../testing/judgment-files.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import type { Host } from "../host.ts";
import { importJudgments } from "../judgments/import-judgments.ts";
import { forkRun } from "../runs/fork-run.ts";
import { registerWorkflow } from "../workflows/register-workflow.ts";
import { LONG_TEXT } from "./scrub-in-turns.ts";

const bench = workbench();
const KEY = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
const LONG = `${KEY} ${"value: a ".repeat(LONG_TEXT / 9)}`;
/** Each of them takes longer than a turn may. */
const MEDIUM = Array.from({ length: 12 }, (_, i) => `${i} ${KEY} ${"value: a ".repeat(1_000)}`);
const SLOW_MS = 8;

/** A host whose scrubber is slow, and what it scrubs: long texts here and in its thread, others in one turn of the event loop. */
function busyHost() {
  const plain = scrubber();
  const host = engineOn(bench.store);
  const scrubbed = { longHere: 0, longInThread: 0, mostInOneTurn: 0 };
  let inThisTurn = 0;
  const scrubText = (text: string) => {
    if (text.length >= LONG_TEXT) scrubbed.longHere++;
    if (text.length < 5_000) return plain.scrubText(text);
    if (inThisTurn++ === 0) setImmediate(() => (inThisTurn = 0));
    scrubbed.mostInOneTurn = Math.max(scrubbed.mostInOneTurn, inThisTurn);
    const untilMs = performance.now() + SLOW_MS;
    while (performance.now() < untilMs);
    return plain.scrubText(text);
  };
  const scrubLong = async (text: string) => {
    scrubbed.longInThread++;
    return plain.scrubText(text);
  };
  return { host: { ...host, scrubber: { ...plain, scrubText, scrubLong } } satisfies Host, scrubbed };
}

const judgment = (tapeRow: string, i: number): Judgment & { type: "annotation" } => ({
  type: "annotation",
  annotationId: `ann-01k2v6w0d9q3c5x7m8n4p2r1${String(i).padStart(2, "0")}`,
  target: { runId: "run-of-another-host" },
  signal: { kind: "correction", correction: "shorter" },
  tapeRow,
  note: "a note",
  actor: { principalRef: "ada" },
  createdAt: "2026-03-01T12:00:00.000Z",
  workflowId: "greet",
  actorKind: "person",
  state: "live",
});

const record = () => undefined;
const plainRun = workflow({ id: "plain", nodes: { a: { typeId: "core.noop" } } });

const PATHS: Readonly<Record<string, (host: Host, texts: readonly string[]) => Promise<string>>> = {
  "start a run": async (host, texts) => {
    await register(host, plainRun);
    const runId = await begin(host, { workflowId: "plain", metadata: { texts } });
    return JSON.stringify(await logOf(bench.store, runId));
  },
  "branch a run": async (host, texts) => {
    await register(host, plainRun);
    bench.work(host);
    const run = await until(bench.store, await begin(host, { workflowId: "plain" }), ended);
    const request = { mode: "branch" as const, fromSeq: 1, runOptionsOverlay: { metadata: { texts } } };
    const { runId } = await forkRun(host, { caller: ADA, runId: run.runId, request, record });
    return JSON.stringify(await logOf(bench.store, runId));
  },
  "register a workflow": async (host, texts) => {
    const definition = { ...plainRun, id: "texts", metadata: { texts } };
    await registerWorkflow(host, { caller: ADA, definition, text: JSON.stringify(definition), record });
    return JSON.stringify((await host.plans.current(ADA.tenant, "texts"))?.definition.metadata);
  },
  "import judgments": async (host, texts) => {
    const rows = texts.map(judgment);
    await importJudgments(host, { caller: ADA, request: { lines: [HEADER, ...rows], dryRun: false }, record });
    const ids = rows.map(({ annotationId }) => annotationId);
    return JSON.stringify(await bench.store.annotationsById(ADA.tenant, ids));
  },
};

describe.each(Object.entries(PATHS))("texts of a request to %s", (_, send) => {
  test("are scrubbed in a thread where they are long", async () => {
    const { host, scrubbed } = busyHost();
    const stored = await send(host, [LONG]);
    expect([stored.includes(MASK), stored.includes(KEY)]).toEqual([true, false]);
    expect(scrubbed.longHere).toBe(0);
    expect(scrubbed.longInThread).toBeGreaterThan(0);
  });

  test("are scrubbed with pauses where they are many", async () => {
    const { host, scrubbed } = busyHost();
    const stored = await send(host, MEDIUM);
    expect([stored.includes(MASK), stored.includes(KEY)]).toEqual([true, false]);
    expect(scrubbed.mostInOneTurn).toBeGreaterThan(0);
    expect(scrubbed.mostInOneTurn).toBeLessThanOrEqual(2);
  });
});
