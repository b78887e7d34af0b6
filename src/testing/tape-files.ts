import { tapeLines } from "../formats/tapes/read-tape.ts";
import { sidecarLines } from "../formats/tapes/sidecar/read-sidecar.ts";
import type { Row, Sidecar, SidecarHeader } from "../formats/tapes/sidecar/sidecar.ts";
import type { RecordKind, Tape, TapeHeader, TapeRecord } from "../formats/tapes/tape.ts";

export function aTapeHeader(over: Partial<TapeHeader> = {}): TapeHeader {
  const usual = { version: 1n, harn_version: "0.8.0", started_at_unix_ms: null, script_path: null, argv: [] };
  return { ...usual, ...over };
}

export function aRecord(over: Partial<TapeRecord> = {}): TapeRecord {
  const kind = { kind: "clock_sleep", duration_ms: 100n } as const;
  return { seq: 0n, phase: "user_script", virtual_time_ms: 0n, monotonic_ms: 0n, kind, ...over };
}

/** Records numbered from 0. */
export function aTape(...kinds: readonly RecordKind[]): Tape {
  return { header: aTapeHeader(), records: kinds.map((kind, i) => aRecord({ seq: BigInt(i), kind })) };
}

export function aSidecarHeader(over: Partial<SidecarHeader> = {}): SidecarHeader {
  return { schema_version: 1n, tape_path: null, tape_content_hash: null, harn_version: null, ...over };
}

export function aRow(over: Partial<Row> = {}): Row {
  return {
    id: "",
    event_id: 0n,
    kind: "note",
    evidence: null,
    suggested_fix: null,
    author: null,
    timestamp: null,
    span: null,
    hypothesis_status: null,
    friction_kind: null,
    links: [],
    metadata: new Map(),
    ...over,
  };
}

export function tapeText(tape: Tape): string {
  return [...tapeLines(tape)].join("");
}

export function sidecarText(sidecar: Sidecar): string {
  return [...sidecarLines(sidecar)].join("");
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** A file in one piece. */
export function fileOf(text: string): Uint8Array[] {
  return [bytesOf(text)];
}
