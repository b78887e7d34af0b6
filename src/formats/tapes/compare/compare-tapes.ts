import { compareUtf8, indentedReport, printFloat, printString, type ReportMember } from "../../json/print-json.ts";
import type { Bytes } from "../../text/lines.ts";
import { readTape } from "../read-tape.ts";
import type { TapeRecord } from "../tape.ts";
import { compareRecords, type Divergence, ownText } from "./compare-records.ts";

export const COMPARISON_MODES = ["byte_identical", "semantic", "outcome", "phase_aware"] as const;
export type ComparisonMode = (typeof COMPARISON_MODES)[number];

export interface ComparisonReport {
  readonly mode: ComparisonMode;
  readonly recorded_records: number;
  readonly replay_records: number;
  readonly divergences: readonly Divergence[];
  /** From 1, where nothing differs, down to 0. */
  readonly score: number;
}

type Side = "recorded" | "replay";

/**
 * Compares a recording with its replay while both are read. Records that have met are forgotten, so no tape is held when the two
 * are read side by side.
 */
export class TapeComparison {
  readonly #mode: ComparisonMode;
  readonly #count = { recorded: 0, replay: 0 };
  readonly #outcome = { recorded: new Outcome(), replay: new Outcome() };
  readonly #script: Pairing;
  readonly #finalize = new Pairing(false);

  constructor(mode: ComparisonMode) {
    this.#mode = mode;
    this.#script = new Pairing(mode !== "semantic");
  }

  add(side: Side, record: TapeRecord): void {
    this.#count[side]++;
    if (this.#mode === "outcome") this.#outcome[side].add(record);
    else if (this.#mode !== "phase_aware" || record.phase === "user_script") this.#script.add(side, record);
    // How often the clean-up reads the clock depends on its duration.
    else if (record.kind.kind !== "clock_read") this.#finalize.add(side, record);
  }

  /** Called once, when all records have been added. */
  report(): ComparisonReport {
    const { recorded, replay } = this.#count;
    const counts = { mode: this.#mode, recorded_records: recorded, replay_records: replay };
    if (this.#mode === "outcome") {
      const divergences = Outcome.compare(this.#outcome.recorded, this.#outcome.replay);
      return { ...counts, divergences, score: divergences.length === 0 ? 1 : 0 };
    }
    const divergences = [...this.#script.end(), ...this.#finalize.end()];
    return { ...counts, divergences, score: 1 - Math.min(1, divergences.length / Math.max(recorded, replay, 1)) };
  }
}

/** Records that have met are dropped so many at a time: dropping each by itself would move all the others. */
const FORGET_AFTER = 4096;

/** Compares the first record of one side with the first of the other, and so on. */
class Pairing {
  readonly #exact: boolean;
  readonly #divergences: Divergence[] = [];
  /** Those of the side that is ahead. */
  #waiting: TapeRecord[] = [];
  #met = 0;
  #ahead: Side = "recorded";

  constructor(exact: boolean) {
    this.#exact = exact;
  }

  add(side: Side, record: TapeRecord): void {
    const other = this.#waiting[this.#met];
    if (other === undefined || this.#ahead === side) {
      this.#ahead = side;
      this.#waiting.push(record);
      return;
    }
    this.#met++;
    if (this.#met >= FORGET_AFTER || this.#met === this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#met);
      this.#met = 0;
    }
    const [recorded, replay] = side === "recorded" ? [record, other] : [other, record];
    for (const divergence of compareRecords(recorded, replay, this.#exact)) this.#divergences.push(divergence);
  }

  end(): readonly Divergence[] {
    for (const { seq, kind } of this.#waiting.slice(this.#met)) {
      this.#divergences.push(
        this.#ahead === "recorded"
          ? { seq, category: "missing_in_replay", recorded: ownText(kind.kind), replay: null }
          : { seq, category: "missing_in_recorded", recorded: null, replay: ownText(kind.kind) },
      );
    }
    return this.#divergences;
  }
}

/** In pieces and without a final LF. Further members follow those of the report. */
export function printComparison(report: ComparisonReport, more: readonly ReportMember[] = []): Generator<string> {
  return indentedReport([
    ["mode", printString(report.mode)],
    ["recorded_records", String(report.recorded_records)],
    ["replay_records", String(report.replay_records)],
    ["divergences", printDivergences(report.divergences)],
    ["score", printFloat(report.score)],
    ...more,
  ]);
}

function* printDivergences(divergences: readonly Divergence[]): Generator<string> {
  for (const one of divergences) {
    yield `{"seq":${one.seq ?? "null"},"category":${printString(one.category)},"message":${printString(messageOf(one))}}`;
  }
}

export function messageOf({ category, recorded, replay }: Divergence): string {
  if (recorded === null) return `the recording has no record here, the replay has ${replay}`;
  if (replay === null) return `the replay has no record here, the recording has ${recorded}`;
  if (category === "comparator_gap") return `two ${recorded} records cannot be compared`;
  if (category === "unknown_kind") return "two records of unknown kinds cannot be compared";
  if (recorded === replay) return `${recorded} on both sides, with different content`;
  return `was ${recorded}, is ${replay}`;
}

export interface TapeFile {
  readonly path: string;
  readonly bytes: Bytes;
}

/**
 * Reads both tapes at once, neither far ahead of the other, so that memory does not grow with them. Throws `FileError` when one
 * cannot be loaded; errors of the recording are reported first. `onRecorded` sees the records of the recording as well.
 */
export async function compareTapes(
  mode: ComparisonMode,
  recorded: TapeFile,
  replay: TapeFile,
  onRecorded: (record: TapeRecord) => void = () => {},
): Promise<ComparisonReport> {
  const comparison = new TapeComparison(mode);
  const pace = new Pace();
  const outcomes = await Promise.allSettled([
    readTape(recorded.path, pace.keep(0, recorded.bytes), (record) => {
      pace.read[0]++;
      comparison.add("recorded", record);
      onRecorded(record);
    }),
    readTape(replay.path, pace.keep(1, replay.bytes), (record) => {
      pace.read[1]++;
      comparison.add("replay", record);
    }),
  ]);
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  return comparison.report();
}

/** Lets a reader have its next piece only while it is not ahead of the other one, which at most one of the two can be. */
class Pace {
  readonly read: [number, number] = [0, 0];
  readonly #ended = [false, false];
  #wake = () => {};

  async *keep(side: 0 | 1, bytes: Bytes): AsyncGenerator<Uint8Array> {
    const other = side === 0 ? 1 : 0;
    try {
      for await (const piece of bytes) {
        this.#wake();
        while (this.read[side] > this.read[other] && !this.#ended[other]) await this.#othersProgress();
        yield piece;
      }
    } finally {
      this.#ended[side] = true;
      this.#wake();
    }
  }

  #othersProgress(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

/** What a run has left behind. Only the last word on each path is kept. */
class Outcome {
  /** By path: the hash of what was written last, or null when the last word was to delete it. Both printed, which copies them. */
  readonly #files = new Map<string, string | null>();
  #exitCode: bigint | null = null;
  #llmCalls = 0;

  add({ kind }: TapeRecord): void {
    if (kind.kind === "file_write") this.#files.set(printString(kind.path), printString(kind.content_hash));
    else if (kind.kind === "file_delete") this.#files.set(printString(kind.path), null);
    else if (kind.kind === "process_spawn") this.#exitCode = kind.exit_code;
    else if (kind.kind === "llm_call") this.#llmCalls++;
  }

  static compare(recorded: Outcome, replay: Outcome): Divergence[] {
    const paths = new Set([...recorded.#files.keys(), ...replay.#files.keys()]);
    const files = [...paths].sort(compareUtf8).map((path) => ({
      category: "outcome_fs_diff",
      was: recorded.#file(path),
      is: replay.#file(path),
    }));
    const counts = [
      { category: "outcome_exit_code", was: recorded.#exit(), is: replay.#exit() },
      { category: "outcome_llm_call_count", was: String(recorded.#llmCalls), is: String(replay.#llmCalls) },
    ];
    return [...files, ...counts]
      .filter(({ was, is }) => was !== is)
      .map(({ category, was, is }) => ({ seq: null, category, recorded: was, replay: is }));
  }

  #file(path: string): string {
    const hash = this.#files.get(path);
    const state = hash === undefined ? "untouched" : hash === null ? "deleted" : `written as ${hash}`;
    return `${path} ${state}`;
  }

  #exit(): string {
    return this.#exitCode === null ? "no subprocess" : String(this.#exitCode);
  }
}
