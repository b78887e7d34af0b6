import { describe, expect, test } from "vitest";
import { inPieces, randomTape } from "../../../testing/random-tapes.ts";
import { randomFrom } from "../../../testing/random-workflow.ts";
import { aRecord, aTape, fileOf, tapeText } from "../../../testing/tape-files.ts";
import type { RecordKind, TapeRecord } from "../tape.ts";
import {
  COMPARISON_MODES,
  type ComparisonMode,
  compareTapes,
  messageOf,
  printComparison,
  TapeComparison,
} from "./compare-tapes.ts";

function compare(mode: ComparisonMode, recorded: readonly TapeRecord[], replay: readonly TapeRecord[]) {
  const comparison = new TapeComparison(mode);
  for (const record of recorded) comparison.add("recorded", record);
  for (const record of replay) comparison.add("replay", record);
  return comparison.report();
}

function found(mode: ComparisonMode, recorded: readonly TapeRecord[], replay: readonly TapeRecord[]): string[] {
  return compare(mode, recorded, replay).divergences.map(({ seq, category }) => `${seq} ${category}`);
}

const inline = (hash: string, text = hash) => ({ content_hash: hash, text });
const stored = (hash: string, len_bytes: bigint) => ({ content_hash: hash, len_bytes });

const KINDS = {
  clockRead: { kind: "clock_read", source: "wall", value_ms: 5n },
  sleep: { kind: "clock_sleep", duration_ms: 5n },
  llm: { kind: "llm_call", request_digest: "r", response: inline("h") },
  decision: { kind: "decision_evaluation", request_digest: "r", response: inline("h") },
  read: { kind: "file_read", path: "p", content_hash: "h", len_bytes: 1n },
  write: { kind: "file_write", path: "p", content_hash: "h", len_bytes: 1n },
  remove: { kind: "file_delete", path: "p" },
  spawn: {
    kind: "process_spawn",
    program: "git",
    args: ["log", "-1"],
    cwd: "/src",
    exit_code: 0n,
    duration_ms: 5n,
    stdout_payload: inline("out"),
    stderr_payload: inline("err"),
  },
  mcp: {
    kind: "mcp_json_rpc",
    server: "s",
    method: "m",
    request_digest: "a",
    response_digest: "b",
    latency_ms: 5n,
    request_payload: inline("req"),
    response_payload: inline("res"),
  },
} as const satisfies Record<string, RecordKind>;

function one(kind: RecordKind, over: Partial<TapeRecord> = {}): TapeRecord[] {
  return [aRecord({ seq: 7n, kind, ...over })];
}

describe("two records of the same kind", () => {
  /** The kind, what changes in it, the category, and whether it is left out where only the meaning counts. */
  const changes: [RecordKind, object, string, "always" | "exactly"][] = [
    [KINDS.clockRead, { source: "monotonic" }, "clock_read_source", "always"],
    [KINDS.clockRead, { value_ms: 6n }, "clock_read_value", "exactly"],
    [KINDS.sleep, { duration_ms: 6n }, "clock_sleep_duration", "exactly"],
    [KINDS.llm, { request_digest: "x" }, "llm_request_digest", "always"],
    [KINDS.llm, { response: inline("x") }, "llm_response_hash", "always"],
    [KINDS.decision, { request_digest: "x" }, "llm_request_digest", "always"],
    [KINDS.decision, { response: inline("x") }, "llm_response_hash", "always"],
    [KINDS.read, { path: "x" }, "file_read_path", "always"],
    [KINDS.read, { content_hash: "x" }, "file_read_hash", "always"],
    [KINDS.read, { len_bytes: 2n }, "file_read_len", "exactly"],
    [KINDS.write, { path: "x" }, "file_write_path", "always"],
    [KINDS.write, { content_hash: "x" }, "file_write_hash", "always"],
    [KINDS.write, { len_bytes: 2n }, "file_write_len", "exactly"],
    [KINDS.remove, { path: "x" }, "file_delete_path", "always"],
    [KINDS.spawn, { program: "x" }, "process_program", "always"],
    [KINDS.spawn, { args: ["log", "1"] }, "process_args", "always"],
    [KINDS.spawn, { args: ['log","-1'] }, "process_args", "always"],
    [KINDS.spawn, { cwd: null }, "process_cwd", "always"],
    [KINDS.spawn, { cwd: "null" }, "process_cwd", "always"],
    [KINDS.spawn, { exit_code: 1n }, "process_exit_code", "always"],
    [KINDS.spawn, { duration_ms: 6n }, "process_duration", "exactly"],
    [KINDS.spawn, { stdout_payload: inline("x") }, "process_stdout_hash", "always"],
    [KINDS.spawn, { stderr_payload: inline("x") }, "process_stderr_hash", "always"],
    [KINDS.mcp, { server: "x" }, "mcp_server", "always"],
    [KINDS.mcp, { method: "x" }, "mcp_method", "always"],
    [KINDS.mcp, { request_digest: "x" }, "mcp_request_digest", "always"],
    [KINDS.mcp, { response_digest: "x" }, "mcp_response_digest", "always"],
    [KINDS.mcp, { latency_ms: 6n }, "mcp_latency", "exactly"],
    [KINDS.mcp, { request_payload: inline("x") }, "mcp_request_hash", "always"],
    [KINDS.mcp, { response_payload: inline("x") }, "mcp_response_hash", "always"],
  ];

  test.each(changes)("%o with %o diverge as %s, %s", (kind, change, category, when) => {
    const replay = one({ ...kind, ...change } as RecordKind);
    expect(found("byte_identical", one(kind), replay)).toEqual([`7 ${category}`]);
    expect(found("semantic", one(kind), replay)).toEqual(when === "always" ? [`7 ${category}`] : []);
  });

  test("agree with themselves", () => {
    for (const kind of Object.values(KINDS)) {
      for (const mode of COMPARISON_MODES) expect(found(mode, one(kind), one(kind))).toEqual([]);
    }
  });

  test("may have another number, since they are paired by position", () => {
    expect(found("byte_identical", one(KINDS.sleep), one(KINDS.sleep, { seq: 8n }))).toEqual([]);
  });

  test("diverge in phase and clocks before their content, when compared exactly", () => {
    const replay = one(
      { ...KINDS.sleep, duration_ms: 9n },
      { phase: "runtime_finalize", virtual_time_ms: 1n, monotonic_ms: 1n },
    );
    const stamps = ["7 phase_mismatch", "7 virtual_time_drift", "7 monotonic_drift"];
    expect(found("byte_identical", one(KINDS.sleep), replay)).toEqual([...stamps, "7 clock_sleep_duration"]);
    expect(found("semantic", one(KINDS.sleep), replay)).toEqual([]);
  });

  test("are never said to agree when they are unknown, or model jobs", () => {
    const job: RecordKind = {
      kind: "model_job",
      job_id: "j",
      request_id: "r",
      backend: "b",
      state: "s",
      event_kind: "e",
      event: inline("h"),
      asset_digests: [],
    };
    for (const mode of ["byte_identical", "semantic"] as const) {
      expect(found(mode, one({ kind: "unknown" }), one({ kind: "unknown" }))).toEqual(["7 unknown_kind"]);
      expect(found(mode, one(job), one(job))).toEqual(["7 comparator_gap"]);
    }
  });
});

describe("the bodies of two records", () => {
  const llm = (response: ReturnType<typeof inline> | ReturnType<typeof stored>): TapeRecord[] => {
    return one({ kind: "llm_call", request_digest: "r", response });
  };
  test("differ when their texts do, whatever hash they claim", () => {
    expect(found("semantic", llm(inline("h", "a")), llm(inline("h", "b")))).toEqual(["7 llm_response_hash"]);
  });

  test("have the same meaning wherever they are kept, but are not identical", () => {
    for (const other of [stored("h", 1n), stored("h", 2n)]) {
      expect(found("semantic", llm(stored("h", 3n)), llm(other))).toEqual([]);
      expect(found("byte_identical", llm(stored("h", 3n)), llm(other))).toEqual(["7 llm_response_hash"]);
      expect(found("semantic", llm(inline("h")), llm(other))).toEqual([]);
      expect(found("byte_identical", llm(inline("h")), llm(other))).toEqual(["7 llm_response_hash"]);
    }
  });
});

describe("two tapes", () => {
  const sleeps = (...durations: bigint[]) =>
    aTape(...durations.map((duration_ms): RecordKind => ({ kind: "clock_sleep", duration_ms }))).records;

  test("of different lengths have records that are missing in one of them", () => {
    expect(found("byte_identical", sleeps(1n, 2n, 3n), sleeps(1n))).toEqual([
      "1 missing_in_replay",
      "2 missing_in_replay",
    ]);
    expect(found("semantic", sleeps(1n), sleeps(1n, 2n))).toEqual(["1 missing_in_recorded"]);
  });

  test("that hold different kinds at a place diverge in nothing else there", () => {
    const replay = one(KINDS.llm, { phase: "runtime_finalize", virtual_time_ms: 9n });
    expect(found("byte_identical", one(KINDS.decision), replay)).toEqual(["7 kind_mismatch"]);
  });

  test("score the share of events that do not diverge, and never less than nothing", () => {
    expect(compare("byte_identical", sleeps(1n, 2n, 3n, 4n), sleeps(1n, 2n, 3n, 5n)).score).toBe(0.75);
    expect(compare("byte_identical", sleeps(), sleeps()).score).toBe(1);
    const drift = one(KINDS.sleep, { virtual_time_ms: 1n, monotonic_ms: 1n });
    expect(compare("byte_identical", one(KINDS.sleep), drift).score).toBe(0);
  });
});

describe("the clean-up after a script", () => {
  const finalize = { phase: "runtime_finalize" } as const;
  const script = one(KINDS.sleep);

  test("is compared by its meaning, without its looks at the clock", () => {
    const recorded = [...script, ...one(KINDS.clockRead, finalize), ...one(KINDS.write, finalize)];
    const replay = [...script, ...one({ ...KINDS.write, len_bytes: 9n }, { ...finalize, virtual_time_ms: 9n })];
    expect(found("phase_aware", recorded, replay)).toEqual([]);
    expect(compare("phase_aware", recorded, replay)).toMatchObject({ recorded_records: 3, replay_records: 2 });
    const other = [...script, ...one({ ...KINDS.write, content_hash: "x" }, finalize)];
    expect(found("phase_aware", recorded, other)).toEqual(["7 file_write_hash"]);
  });

  test("does not soften what is asked of the script", () => {
    const late = one(KINDS.sleep, { virtual_time_ms: 9n });
    expect(found("phase_aware", script, late)).toEqual(["7 virtual_time_drift"]);
    expect(found("phase_aware", one(KINDS.clockRead), [])).toEqual(["7 missing_in_replay"]);
    expect(found("phase_aware", script, one(KINDS.sleep, finalize))).toEqual([
      "7 missing_in_replay",
      "7 missing_in_recorded",
    ]);
  });
});

describe("the outcome of a run", () => {
  const write = (path: string, content_hash: string): RecordKind => ({
    kind: "file_write",
    path,
    content_hash,
    len_bytes: 1n,
  });
  const remove = (path: string): RecordKind => ({ kind: "file_delete", path });
  const spawn = (exit_code: bigint): RecordKind => ({ ...KINDS.spawn, exit_code });
  const report = (recorded: RecordKind[], replay: RecordKind[]) => {
    return compare("outcome", aTape(...recorded).records, aTape(...replay).records);
  };

  test("is the last content of each path, whatever came before", () => {
    const recorded = [write("b", "1"), write("a", "1"), remove("c"), write("b", "2")];
    expect(report(recorded, [remove("b"), write("b", "2"), remove("c"), write("a", "1"), KINDS.sleep]).score).toBe(1);
    const { divergences, score } = report(recorded, [write("b", "1"), write("c", "1"), write("d", "1")]);
    expect(score).toBe(0);
    expect(divergences.map((one) => [one.seq, one.category, messageOf(one)])).toEqual([
      [null, "outcome_fs_diff", 'was "a" written as "1", is "a" untouched'],
      [null, "outcome_fs_diff", 'was "b" written as "2", is "b" written as "1"'],
      [null, "outcome_fs_diff", 'was "c" deleted, is "c" written as "1"'],
      [null, "outcome_fs_diff", 'was "d" untouched, is "d" written as "1"'],
    ]);
  });

  test("is the exit code of the last subprocess and the number of model calls", () => {
    expect(report([spawn(1n), spawn(0n)], [spawn(0n)]).divergences).toEqual([]);
    expect(found("outcome", one(spawn(0n)), one(spawn(3n)))).toEqual(["null outcome_exit_code"]);
    expect(found("outcome", one(spawn(0n)), [])).toEqual(["null outcome_exit_code"]);
    expect(found("outcome", one(KINDS.llm), one(KINDS.decision))).toEqual(["null outcome_llm_call_count"]);
  });
});

describe("the report", () => {
  const printed = (mode: ComparisonMode, recorded: TapeRecord[], replay: TapeRecord[]) =>
    [...printComparison(compare(mode, recorded, replay))].join("");

  test("is indented, with exact numbers and a score that is a float", () => {
    const far = one(KINDS.remove, { seq: 2n ** 64n - 1n });
    expect(printed("semantic", far, one({ ...KINDS.remove, path: 'a:{"' }))).toBe(`{
  "mode": "semantic",
  "recorded_records": 1,
  "replay_records": 1,
  "divergences": [
    {
      "seq": 18446744073709551615,
      "category": "file_delete_path",
      "message": "was \\"p\\", is \\"a:{\\\\\\"\\""
    }
  ],
  "score": 0.0
}`);
  });

  test("closes an empty list at once", () => {
    expect(printed("outcome", [], [])).toContain(`"divergences": [],\n  "score": 1.0\n}`);
  });
});

describe("tapes that are read side by side", () => {
  test("give the same report however the pieces arrive", async () => {
    const random = randomFrom(11);
    for (let round = 0; round < 20; round++) {
      const [recorded, replay] = [randomTape(random, 30), randomTape(random, 30)];
      const file = (tape: typeof recorded, path: string) => ({
        path,
        bytes: inPieces(new TextEncoder().encode(tapeText(tape)), random, 200),
      });
      for (const mode of COMPARISON_MODES) {
        const report = await compareTapes(mode, file(recorded, "a"), file(replay, "b"));
        expect(report).toEqual(compare(mode, recorded.records, replay.records));
      }
    }
  });

  test("are never far ahead of each other", async () => {
    const kinds = Array.from({ length: 200 }, (): RecordKind => KINDS.sleep);
    const lines = tapeText(aTape(...kinds))
      .split("\n")
      .slice(0, -1);
    let [ahead, most] = [0, 0];
    const file = (path: string, step: number) => ({
      path,
      bytes: (async function* () {
        for (const line of lines) {
          // One of the two is slow.
          if (path === "b") await new Promise((resolve) => setImmediate(resolve));
          yield new TextEncoder().encode(`${line}\n`);
          ahead += step;
          most = Math.max(most, Math.abs(ahead));
        }
      })(),
    });
    expect((await compareTapes("byte_identical", file("a", 1), file("b", -1))).divergences).toEqual([]);
    expect(most).toBeLessThan(5);
  });

  test("are refused for what is wrong with the recording first", async () => {
    const good = tapeText(aTape(KINDS.sleep, KINDS.sleep));
    const bad = (path: string) => ({ path, bytes: fileOf(`${good}{}\n`) });
    const fine = { path: "fine", bytes: fileOf(good) };
    const first = { path: "first", bytes: fileOf("") };
    await expect(compareTapes("semantic", bad("a"), first)).rejects.toMatchObject({ path: "a", place: { line: 4 } });
    await expect(compareTapes("semantic", fine, bad("b"))).rejects.toMatchObject({ path: "b", place: { line: 4 } });
  });
});
