import { printString } from "../../json/print-json.ts";
import { lowerBound } from "../../text/collections.ts";
import { compareSeq } from "../seq-set.ts";
import { Chains, EventStretches, type Stretch, stretchOf } from "../sidecar/current-rows.ts";
import type { Row } from "../sidecar/sidecar.ts";
import { isStored, type Payload, type RecordKindName, type TapeRecord } from "../tape.ts";
import type { ComparisonReport } from "./compare-tapes.ts";

/** How a recording and its replay differ in one respect; `seq` is that of the recorded event, and null when no single event is meant. */
export interface Divergence {
  readonly seq: bigint | null;
  readonly category: string;
  /** What it was in the recording and what it is in the replay; null where there is nothing. */
  readonly recorded: string | null;
  readonly replay: string | null;
}

interface Part {
  readonly member: string;
  readonly category: string;
  /** Says how long something took or how much it was, which a faithful replay need not repeat. */
  readonly measure?: true;
}

type Compared = Exclude<RecordKindName, "model_job">;

/** What is compared of each kind, in the order in which it is reported. */
const PARTS: Readonly<Record<Compared, readonly Part[]>> = {
  clock_read: [
    { member: "source", category: "clock_read_source" },
    { member: "value_ms", category: "clock_read_value", measure: true },
  ],
  clock_sleep: [{ member: "duration_ms", category: "clock_sleep_duration", measure: true }],
  llm_call: [
    { member: "request_digest", category: "llm_request_digest" },
    { member: "response", category: "llm_response_hash" },
  ],
  decision_evaluation: [
    { member: "request_digest", category: "llm_request_digest" },
    { member: "response", category: "llm_response_hash" },
  ],
  file_read: [
    { member: "path", category: "file_read_path" },
    { member: "content_hash", category: "file_read_hash" },
    { member: "len_bytes", category: "file_read_len", measure: true },
  ],
  file_write: [
    { member: "path", category: "file_write_path" },
    { member: "content_hash", category: "file_write_hash" },
    { member: "len_bytes", category: "file_write_len", measure: true },
  ],
  file_delete: [{ member: "path", category: "file_delete_path" }],
  process_spawn: [
    { member: "program", category: "process_program" },
    { member: "args", category: "process_args" },
    { member: "cwd", category: "process_cwd" },
    { member: "exit_code", category: "process_exit_code" },
    { member: "duration_ms", category: "process_duration", measure: true },
    { member: "stdout_payload", category: "process_stdout_hash" },
    { member: "stderr_payload", category: "process_stderr_hash" },
  ],
  mcp_json_rpc: [
    { member: "server", category: "mcp_server" },
    { member: "method", category: "mcp_method" },
    { member: "request_digest", category: "mcp_request_digest" },
    { member: "response_digest", category: "mcp_response_digest" },
    { member: "latency_ms", category: "mcp_latency", measure: true },
    { member: "request_payload", category: "mcp_request_hash" },
    { member: "response_payload", category: "mcp_response_hash" },
  ],
};

const STAMPS: readonly Part[] = [
  { member: "phase", category: "phase_mismatch" },
  { member: "virtual_time_ms", category: "virtual_time_drift" },
  { member: "monotonic_ms", category: "monotonic_drift" },
];

/** `exact` compares everything, otherwise phases, clocks and measures may differ. The numbers of the events always may. */
export function compareRecords(recorded: TapeRecord, replay: TapeRecord, exact: boolean): Divergence[] {
  const { seq } = recorded;
  const [was, is] = [recorded.kind, replay.kind];
  if (was.kind !== is.kind) {
    return [{ seq, category: "kind_mismatch", recorded: ownText(was.kind), replay: ownText(is.kind) }];
  }
  const stamps = exact ? STAMPS.flatMap((part) => differences(seq, part, recorded, replay, exact)) : [];
  switch (was.kind) {
    case "unknown":
      // The content of an unknown record is lost in reading, so two of them never count as equal.
      return [...stamps, { seq, category: "unknown_kind", recorded: "unknown", replay: "unknown" }];
    case "model_job":
      return [...stamps, { seq, category: "comparator_gap", recorded: "model_job", replay: "model_job" }];
    default: {
      const parts = PARTS[was.kind].filter(({ measure }) => exact || !measure);
      return [...stamps, ...parts.flatMap((part) => differences(seq, part, was, is, exact))];
    }
  }
}

type Member = string | bigint | null | readonly string[] | Payload;

function differences(seq: bigint, part: Part, recorded: object, replay: object, exact: boolean): Divergence[] {
  const was = (recorded as Record<string, Member>)[part.member] as Member;
  const is = (replay as Record<string, Member>)[part.member] as Member;
  if (isPayload(was) && isPayload(is) ? samePayload(was, is, exact) : shown(was) === shown(is)) return [];
  return [{ seq, category: part.category, recorded: shown(was), replay: shown(is) }];
}

/** Nothing keeps a tape from naming the hash of another text, so texts are compared as well. */
function samePayload(was: Payload, is: Payload, exact: boolean): boolean {
  if (was.content_hash !== is.content_hash) return false;
  if (isStored(was) !== isStored(is)) return !exact;
  if (isStored(was)) return !exact || shown(was) === shown(is);
  return !isStored(is) && was.text === is.text;
}

function isPayload(value: Member): value is Payload {
  return typeof value === "object" && value !== null && "content_hash" in value;
}

/** Different values are shown differently, but for the texts of payloads with the same hash. */
function shown(value: Member): string {
  if (value === null) return "null";
  if (typeof value === "bigint") return String(value);
  if (typeof value === "string") return printString(value);
  if (isPayload(value)) {
    return `${ownText(value.content_hash)} (${isStored(value) ? `${value.len_bytes} bytes, stored` : "inline"})`;
  }
  return `[${value.map(printString).join(",")}]`;
}

/**
 * A text that was cut out of a line keeps the whole piece of the file alive that the line came with, so what is remembered is a copy.
 * Printing makes one.
 */
export function ownText(text: string): string {
  return printString(text).slice(1, -1);
}

/**
 * The rows of a sidecar of the recording that speak of events on which the replay diverges. A row with a span speaks of every event
 * in it. Rows are added in the order of the file, and those about other events are forgotten.
 */
export class DivergenceRows {
  /** Sorted, without repeats. */
  readonly #seqs: readonly bigint[];
  readonly #chains = new Chains();
  readonly #kept: { readonly row: Row; readonly index: number; readonly stretch: Stretch }[] = [];

  constructor({ divergences }: ComparisonReport) {
    const seqs = new Set<bigint>();
    for (const one of divergences) if (isOfRecording(one)) seqs.add(one.seq);
    this.#seqs = [...seqs].sort(compareSeq);
  }

  add(row: Row): void {
    const index = this.#chains.add(row);
    const stretch = stretchOf(row);
    const next = this.#seqs[lowerBound(this.#seqs.length, (i) => (this.#seqs[i] as bigint) >= stretch.first)];
    if (next !== undefined && next <= stretch.last) this.#kept.push({ row, index, stretch });
  }

  get rows(): readonly Row[] {
    return this.#kept.map(({ row }) => row);
  }

  on(divergence: Divergence): readonly Row[] {
    if (!isOfRecording(divergence)) return [];
    const { seq } = divergence;
    return this.#kept.filter(({ stretch }) => stretch.first <= seq && seq <= stretch.last).map(({ row }) => row);
  }

  /** The diverging events that are muted, unless a later row has taken the place of the one that says so. */
  muted(): ReadonlySet<bigint> {
    const mutes = this.#kept.filter(({ row, index }) => row.kind === "mute" && !this.#chains.isReplaced(index));
    const muted = new EventStretches(mutes.map(({ row }) => row));
    return new Set(this.#seqs.filter((seq) => muted.has(seq)));
  }
}

/** An event that only the replay has may share its number with one of the recording, and is another one. */
export function isOfRecording(divergence: Divergence): divergence is Divergence & { readonly seq: bigint } {
  return divergence.seq !== null && divergence.recorded !== null;
}
