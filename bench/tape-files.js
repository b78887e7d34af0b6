// @ts-check
import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

const KINDS = [
  "correct",
  "incorrect",
  "alternative",
  "note",
  "marker",
  "mute",
  "hypothesis",
  "friction",
  "crystallize_here",
];
const SURFACES = ["console", "editor", "terminal"];
const ROWS_PER_PIECE = 1000;

/**
 * A tape of so many events, numbered without gaps.
 * @param {string} path
 * @param {number} events
 */
export async function writeTape(path, events) {
  const header =
    '{"type":"header","version":1,"harn_version":"0.8.6","started_at_unix_ms":1767225600000,"script_path":"nightly.harn","argv":[]}\n';
  await write(path, header, events, tapeRecord);
}

/**
 * As many rows as a writer would print them, about 320 bytes each, none of them with a problem.
 * @param {string} path
 * @param {number} rows
 * @param {number} events of the tape
 */
export async function writeSidecar(path, rows, events) {
  const header =
    '{"type":"header","schema_version":1,"tape_path":"run.tape","tape_content_hash":null,"harn_version":"0.8.6"}\n';
  await write(path, header, rows, (i) => row(i, events));
}

/** @param {number} i */
export function tapeRecord(i) {
  const kind =
    i % 4 === 0
      ? {
          kind: "llm_call",
          request_digest: hex(i),
          response: { content_hash: hex(i + 1), text: `{"answer":"invoice ${i}"}` },
        }
      : i % 4 === 1
        ? { kind: "file_read", path: `docs/page-${i % 997}.md`, content_hash: hex(i), len_bytes: 2048 + (i % 777) }
        : { kind: "clock_sleep", duration_ms: i % 1000 };
  return { type: "record", seq: i, phase: "user_script", virtual_time_ms: 1767225600000 + i, monotonic_ms: i, kind };
}

/**
 * @param {number} i
 * @param {number} events
 */
function row(i, events) {
  const kind = KINDS[i % KINDS.length];
  const event = (i * 7919) % events;
  return {
    type: "annotation",
    id: `ann_${i.toString(36).padStart(8, "0")}`,
    event_id: event,
    kind,
    evidence: i % 3 === 0 ? `the answer misses invoice no. ${i}, see the "attachment"` : null,
    suggested_fix: i % 9 === 2 ? { model: "small", retries: 2, temperature: 0.25 } : null,
    author: { id: `reviewer-${i % 23}`, kind: i % 2 === 0 ? "human" : "agent", surface: SURFACES[i % 3] },
    timestamp: "2026-05-10T17:00:00Z",
    span: i % 9 === 4 ? { start_event_id: event, end_event_id: event } : null,
    hypothesis_status: kind === "hypothesis" ? "verifying" : null,
    friction_kind: kind === "friction" ? "missing_context" : null,
    links: i % 5 === 0 ? [{ label: "runbook", url: `https://example.com/runbooks/${i % 101}`, reference: null }] : [],
    metadata: { batch: i % 50, reviewed: true },
  };
}

/** @param {number} i */
function hex(i) {
  return Math.imul(i, 0x9e3779b1).toString(16).replace("-", "a").padStart(8, "0").repeat(8);
}

/**
 * @param {string} path
 * @param {string} header
 * @param {number} count
 * @param {(i: number) => unknown} make
 */
async function write(path, header, count, make) {
  function* pieces() {
    yield header;
    for (let start = 0; start < count; start += ROWS_PER_PIECE) {
      let piece = "";
      for (let i = start; i < Math.min(count, start + ROWS_PER_PIECE); i++) piece += `${JSON.stringify(make(i))}\n`;
      yield piece;
    }
  }
  await pipeline(Readable.from(pieces()), createWriteStream(path));
}
