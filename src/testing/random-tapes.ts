import type { Row, Sidecar } from "../formats/tapes/sidecar/sidecar.ts";
import { AUTHOR_KINDS, FRICTION_KINDS, HYPOTHESIS_STATUSES, ROW_KINDS } from "../formats/tapes/sidecar/sidecar.ts";
import type { Payload } from "../formats/tapes/tape.ts";
import { PHASES, type RecordKind, type Tape } from "../formats/tapes/tape.ts";
import { below, randomFreeForm, randomFreeMap, randomInteger, randomText, several } from "./random-json.ts";
import { pick, type Random } from "./random-workflow.ts";

const I32 = [-(2n ** 31n), 2n ** 31n - 1n] as const;
const U64 = [0n, 2n ** 64n - 1n] as const;
const I64 = [-(2n ** 63n), 2n ** 63n - 1n] as const;

/** Every kind of record, numbers that are repeated, skipped and out of order. */
export function randomTape(random: Random, recordsMax = 12): Tape {
  const records = several(random, recordsMax, (i) => ({
    seq: random() < 0.8 ? BigInt(i) : randomInteger(random, ...U64),
    phase: pick(random, PHASES),
    virtual_time_ms: randomInteger(random, ...I64),
    monotonic_ms: randomInteger(random, ...I64),
    kind: pick(random, KINDS)(random),
  }));
  const header = {
    version: pick(random, [0n, 1n]),
    harn_version: randomText(random),
    started_at_unix_ms: maybe(random, () => randomInteger(random, ...I64)),
    script_path: maybe(random, () => randomText(random)),
    argv: texts(random),
  };
  return { header, records };
}

/** Rows about the tape's events and about events it does not have; many are not valid. */
export function randomSidecar(random: Random, tape: Tape, rowsMax = 12): Sidecar {
  const header = {
    schema_version: pick(random, [0n, 1n]),
    tape_path: maybe(random, () => randomText(random)),
    tape_content_hash: null,
    harn_version: maybe(random, () => randomText(random)),
  };
  return { header, rows: several(random, rowsMax, () => randomRow(random, tape)) };
}

export function randomRow(random: Random, tape: Tape): Row {
  const event = () =>
    tape.records.length > 0 && random() < 0.8 ? pick(random, tape.records).seq : randomInteger(random, ...U64);
  const event_id = event();
  const text = () => randomText(random);
  const span = () => ({ start_event_id: random() < 0.7 ? event_id : event(), end_event_id: event() });
  return {
    id: pick(random, ["", "a", "b", `ann_${below(random, 50)}`, text()]),
    event_id,
    kind: pick(random, [...ROW_KINDS, "unknown"]),
    evidence: maybe(random, text),
    suggested_fix: maybe(random, () => randomFreeForm(random)),
    author: maybe(random, () => ({ id: maybe(random, text), kind: pick(random, AUTHOR_KINDS), surface: null })),
    timestamp: maybe(random, () => pick(random, ["2026-01-01T00:00:00Z", text()])),
    span: maybe(random, span),
    hypothesis_status: maybe(random, () => pick(random, HYPOTHESIS_STATUSES)),
    friction_kind: maybe(random, () => pick(random, [...FRICTION_KINDS, text()])),
    links: several(random, 2, () => ({ label: maybe(random, text), url: maybe(random, text), reference: null })),
    metadata: randomFreeMap(random),
  };
}

/** The same file in pieces that end anywhere, also inside a character. */
export function inPieces(bytes: Uint8Array, random: Random, most = 16): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + below(random, most);
    pieces.push(bytes.slice(at, end));
    at = end;
  }
  return pieces;
}

/** A file with a few bytes or lines changed, dropped, doubled or moved: mostly no longer a file of its kind, sometimes only another. */
export function mutated(bytes: Uint8Array, random: Random): Uint8Array {
  let result: readonly number[] = [...bytes];
  for (let left = 1 + below(random, 3); left > 0; left--) {
    result = random() < 0.3 ? withOtherLines(result, random) : withOtherBytes(result, random);
  }
  return Uint8Array.from(result);
}

function withOtherBytes(bytes: readonly number[], random: Random): number[] {
  const at = below(random, bytes.length + 1);
  const to = at + below(random, pick(random, [2, 20, 200]));
  const [before, part, after] = [bytes.slice(0, at), bytes.slice(at, to), bytes.slice(to)];
  const typed = new TextEncoder().encode(pick(random, TYPED));
  return pick(random, [
    [...before, ...after],
    [...before, ...part, ...part, ...after],
    [...before, ...typed, ...after],
    [...before, ...typed, ...part, ...after],
    [...before, below(random, 256), ...bytes.slice(at + 1)],
    [...after, ...before],
  ]);
}

function withOtherLines(bytes: readonly number[], random: Random): number[] {
  const lines = linesOf(bytes);
  const one = below(random, lines.length);
  const line = lines[one] ?? [];
  const rest = lines.filter((_, i) => i !== one);
  const to = below(random, lines.length);
  return pick(random, [rest, lines.toSpliced(to, 0, line), rest.toSpliced(to, 0, line)]).flat();
}

/** Each with its LF, if it has one. */
function linesOf(bytes: readonly number[]): number[][] {
  const lines: number[][] = [[]];
  for (const byte of bytes) {
    lines.at(-1)?.push(byte);
    if (byte === 0x0a) lines.push([]);
  }
  return lines;
}

/** What changes the meaning of a line, or only seems to. */
const TYPED = [
  ...'{}[]:,"\\#-+.eE0 \t\n\r\u0085\u00a0\u2028\ufeff',
  "\r\n",
  "null",
  "true",
  "1e400",
  "-0",
  "1.0",
  "1e0",
  "18446744073709551616",
  "\\ud800",
  "\\u0000",
  '"type":"header",',
  '"kind":"note",',
  '"seq":1,',
  '"event_id":1,',
  '"metadata":{},',
  '"unknown":[{}],',
];

const KINDS: readonly ((random: Random) => RecordKind)[] = [
  (r) => ({ kind: "clock_read", source: pick(r, ["wall", "monotonic"]), value_ms: randomInteger(r, ...I64) }),
  (r) => ({ kind: "clock_sleep", duration_ms: randomInteger(r, ...U64) }),
  (r) => ({ kind: "llm_call", request_digest: randomText(r), response: randomPayload(r) }),
  (r) => ({ kind: "decision_evaluation", request_digest: randomText(r), response: randomPayload(r) }),
  (r) => ({ kind: "file_read", ...randomFile(r) }),
  (r) => ({ kind: "file_write", ...randomFile(r) }),
  (r) => ({ kind: "file_delete", path: randomText(r) }),
  (r) => ({
    kind: "process_spawn",
    program: randomText(r),
    args: texts(r),
    cwd: maybe(r, () => randomText(r)),
    exit_code: randomInteger(r, ...I32),
    duration_ms: randomInteger(r, ...U64),
    stdout_payload: randomPayload(r),
    stderr_payload: randomPayload(r),
  }),
  (r) => ({
    kind: "mcp_json_rpc",
    server: randomText(r),
    method: randomText(r),
    request_digest: randomText(r),
    response_digest: randomText(r),
    latency_ms: randomInteger(r, ...U64),
    request_payload: randomPayload(r),
    response_payload: randomPayload(r),
  }),
  (r) => ({
    kind: "model_job",
    job_id: randomText(r),
    request_id: randomText(r),
    backend: randomText(r),
    state: randomText(r),
    event_kind: randomText(r),
    event: randomPayload(r),
    asset_digests: texts(r),
  }),
  () => ({ kind: "unknown" }),
];

function randomPayload(random: Random): Payload {
  const content_hash = randomText(random);
  if (random() < 0.5) return { content_hash, text: randomText(random, 40) };
  return { content_hash, len_bytes: randomInteger(random, ...U64) };
}

function randomFile(random: Random) {
  return {
    path: randomText(random),
    content_hash: randomText(random),
    len_bytes: randomInteger(random, ...U64),
  };
}

function texts(random: Random): string[] {
  return several(random, 3, () => randomText(random));
}

function maybe<T>(random: Random, make: () => T): T | null {
  return random() < 0.5 ? null : make();
}
