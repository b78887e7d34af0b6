import { readJson, Unreadable } from "../../json/exact-json.ts";
import { type FreeForm, printFreeForm } from "../../json/print-json.ts";
import { type Bytes, type LineReader, loadLines, trimSpace } from "../../text/lines.ts";
import { tapeUnreadable } from "../read-tape.ts";
import type { Anchor } from "../sidecar/sidecar.ts";
import { readTapeLine, type TapeRecord } from "../tape.ts";
import { endOf, type RankedSequences, type RepeatedSequence } from "./rank.ts";
import {
  type Action,
  actionOf,
  isDeterministic,
  parametersOf,
  type Signatures,
  signatureOf,
  type Trace,
} from "./trace.ts";

/** A sequence of actions that several tapes have, which could be made a fixed workflow. */
export interface Candidate {
  readonly steps: readonly CandidateStep[];
  readonly tapes: readonly Example[];
  readonly anchors: readonly { readonly path: string; readonly anchor: Anchor }[];
  readonly confidence: number;
  /** See `RepeatedSequence`. */
  readonly stretch: number;
  /** Values that are not the same in all tapes, and would be parameters. */
  readonly varies: readonly Variation[];
}

export interface CandidateStep {
  readonly signature: string;
  readonly kind: Action["kind"];
  readonly name: string;
  readonly parameters: readonly string[];
  readonly deterministic: boolean;
}

/** Where a tape has the sequence first. */
export interface Example {
  readonly path: string;
  readonly firstSeq: bigint;
  readonly lastSeq: bigint;
}

export interface Variation {
  /** From 0. */
  readonly step: number;
  readonly parameter: string;
  readonly distinct: number;
  /** Some of them. */
  readonly examples: readonly FreeForm[];
}

const EXAMPLES_SHOWN = 3;

/** Which records of a tape are needed to describe sequences. */
export type Places = ReadonlyMap<Trace, ReadonlySet<number>>;
/** The record at a place of a trace; undefined when the file is not what it was. */
export type RecordAt = (trace: Trace, place: number) => TapeRecord | undefined;

interface Found {
  readonly trace: Trace;
  /** Of its records in the file. */
  readonly places: readonly number[];
}

/** Says where the sequences are, so that their records can be read again: keeping those of all tapes would take too much room. */
export class CandidateFinder {
  readonly #found: readonly { readonly sequence: RepeatedSequence; readonly examples: readonly Found[] }[];
  readonly #signatures: Signatures;
  readonly #traces: readonly Trace[];

  constructor({ best }: RankedSequences, traces: readonly Trace[], signatures: Signatures) {
    this.#signatures = signatures;
    this.#traces = traces;
    this.#found = best.map((sequence) => ({ sequence, examples: examplesOf(sequence, traces) }));
  }

  places(): Places {
    const places = new Map<Trace, Set<number>>();
    for (const { trace, places: some } of this.#found.flatMap(({ examples }) => examples)) {
      const all = places.get(trace) ?? new Set();
      for (const place of some) all.add(place);
      places.set(trace, all);
    }
    return places;
  }

  /** Undefined when a record is not what it was when the tapes were read first. */
  candidates(recordAt: RecordAt): Candidate[] | undefined {
    const candidates = this.#found.map(({ sequence, examples }) => this.#candidate(sequence, examples, recordAt));
    return candidates.every((one) => one !== undefined) ? candidates : undefined;
  }

  #candidate(sequence: RepeatedSequence, examples: readonly Found[], recordAt: RecordAt): Candidate | undefined {
    const expected = sequence.signatures.map((number) => this.#signatures.textOf(number));
    const runs = examples.map(({ trace, places }) => places.map((place) => recordAt(trace, place)));
    const actions = runs.map((run) => run.map((record) => (record === undefined ? undefined : actionOf(record))));
    if (!actions.every((run): run is Action[] => run.every((one, i) => isSame(one, expected[i])))) return undefined;
    const records = runs as TapeRecord[][];
    const steps = (actions[0] as Action[]).map(stepOf);
    return {
      steps,
      tapes: examples.map(({ trace }, i) => exampleOf(trace, records[i] as TapeRecord[])),
      anchors: anchorsOf(sequence, this.#traces),
      confidence: confidenceOf(steps, examples.length / this.#traces.length),
      stretch: sequence.stretch,
      varies: steps.flatMap(({ parameters }, step) => variationsOf(step, parameters, actions)),
    };
  }
}

function isSame(action: Action | "gap" | undefined, signature: string | undefined): boolean {
  return action !== undefined && action !== "gap" && signatureOf(action) === signature;
}

function examplesOf({ signatures }: RepeatedSequence, traces: readonly Trace[]): Found[] {
  return traces.flatMap((trace) => {
    const first = indexOfRun(trace.signatures, signatures, 0, trace.signatures.length - signatures.length + 1);
    return first < 0 ? [] : [{ trace, places: [...trace.places.subarray(first, first + signatures.length)] }];
  });
}

function indexOfRun(trace: Int32Array, run: readonly number[], from: number, to: number): number {
  for (let i = from; i < to; i++) {
    let same = 0;
    while (same < run.length && trace[i + same] === run[same]) same++;
    if (same === run.length) return i;
  }
  return -1;
}

function anchorsOf({ signatures, anchored }: RepeatedSequence, traces: readonly Trace[]): Candidate["anchors"] {
  if (!anchored) return [];
  return traces.flatMap((trace) => {
    const covering = trace.anchored.filter(
      (run) => indexOfRun(trace.signatures, signatures, run.from, endOf(run, signatures.length)) >= 0,
    );
    return [...new Set(covering.map(({ anchor }) => anchor))].map((anchor) => ({ path: trace.path, anchor }));
  });
}

function stepOf(action: Action): CandidateStep {
  const { kind, name, values } = action;
  const parameters = parametersOf(values);
  return { signature: signatureOf(action), kind, name, parameters, deterministic: isDeterministic(kind) };
}

function exampleOf({ path }: Trace, records: readonly TapeRecord[]): Example {
  return { path, firstSeq: records[0]?.seq as bigint, lastSeq: records.at(-1)?.seq as bigint };
}

const COVERED_WEIGHT = 0.65;
const DETERMINISTIC_WEIGHT = 0.35;
const CONFIDENCE_MAX = 0.99;

function confidenceOf(steps: readonly CandidateStep[], covered: number): number {
  const deterministic = steps.filter((step) => step.deterministic).length / steps.length;
  return Math.min(CONFIDENCE_MAX, COVERED_WEIGHT * covered + DETERMINISTIC_WEIGHT * deterministic);
}

function variationsOf(step: number, parameters: readonly string[], runs: readonly Action[][]): Variation[] {
  return parameters.flatMap((parameter) => {
    const values = new Map<string, FreeForm>();
    for (const run of runs) {
      const value = run[step]?.values.get(parameter) ?? null;
      values.set(printFreeForm(value), value);
    }
    const examples = [...values.values()].slice(0, EXAMPLES_SHOWN);
    return values.size > 1 ? [{ step, parameter, distinct: values.size, examples }] : [];
  });
}

/**
 * Some records of a tape that has been read before, by their places from 0. The others are passed over without looking into them, and so
 * is one that is not what it was.
 */
export async function pickRecords(
  path: string,
  bytes: Bytes,
  wanted: ReadonlySet<number>,
): Promise<ReadonlyMap<number, TapeRecord>> {
  const picker = new RecordPicker(wanted);
  await loadLines(bytes, picker, (reason) => tapeUnreadable(path, reason));
  return picker.records;
}

class RecordPicker implements LineReader {
  readonly records = new Map<number, TapeRecord>();
  readonly #wanted: ReadonlySet<number>;
  #lines = 0;
  #place = 0;

  constructor(wanted: ReadonlySet<number>) {
    this.#wanted = wanted;
  }

  line(text: string): void {
    this.#lines++;
    if (this.#lines === 1 || trimSpace(text) === "") return;
    const place = this.#place++;
    if (!this.#wanted.has(place)) return;
    const record = recordOf(text);
    if (record !== undefined) this.records.set(place, record);
  }

  end(): void {}
}

/** Undefined when the line is not what it was. */
function recordOf(text: string): TapeRecord | undefined {
  try {
    const line = readTapeLine(readJson(trimSpace(text)));
    return line.type === "record" ? line.record : undefined;
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}
