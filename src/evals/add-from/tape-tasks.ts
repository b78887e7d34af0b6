import { jsonOrText } from "../../formats/json/check-json.ts";
import { type FreeForm, printFreeForm } from "../../formats/json/print-json.ts";
import { CurrentRows } from "../../formats/tapes/sidecar/current-rows.ts";
import { nameOfRow, type Row } from "../../formats/tapes/sidecar/sidecar.ts";
import type { RecordKind, Tape, TapeRecord } from "../../formats/tapes/tape.ts";
import { addTo } from "../../formats/text/collections.ts";
import { AppError } from "../../protocol/errors.ts";
import { stepOf, type TextOf } from "../calibration/gold-of-run.ts";
import { type Expectation, expectedOf } from "./expected-of.ts";

/** A person's label of one step, as a task. */
export interface TapeTask extends RecordedStep {
  readonly name: string;
  readonly eventId: bigint;
  /** The row that it expects what it expects because of. */
  readonly row: string;
  /** Whether the recorded answer is wrong, and has to fail. */
  readonly corrects: boolean;
  readonly expected: Expectation;
}

export interface LeftOutStep {
  readonly eventId: bigint;
  readonly reason: string;
}

export interface TapeTasks {
  readonly tasks: readonly TapeTask[];
  readonly leftOut: readonly LeftOutStep[];
}

/** Takes the rows of a sidecar in their order, and makes tasks from the current ones. */
export class TapeJudgments {
  readonly #rows = new CurrentRows<Row>(["correct", "incorrect", "alternative"], (row) => row);

  add(row: Row): void {
    this.#rows.add(row);
  }

  async tasks({ records }: Pick<Tape, "records">, textOf: TextOf): Promise<TapeTasks> {
    const tasks: TapeTask[] = [];
    const leftOut: LeftOutStep[] = [];
    const bySeq = new Map<bigint, TapeRecord>();
    for (const record of records) if (!bySeq.has(record.seq)) bySeq.set(record.seq, record);
    const byEvent = new Map<bigint, Row[]>();
    for (const row of this.#rows.split().heard) addTo(byEvent, row.event_id, row);
    for (const [eventId, rows] of byEvent) {
      const made = await taskOf(eventId, rows, bySeq.get(eventId), textOf);
      if (typeof made === "string") leftOut.push({ eventId, reason: made });
      else tasks.push(made);
    }
    return { tasks, leftOut };
  }
}

/** The task of one step, or the reason why there is none. */
async function taskOf(
  eventId: bigint,
  rows: readonly Row[],
  record: TapeRecord | undefined,
  textOf: TextOf,
): Promise<TapeTask | string> {
  const people = rows.filter(({ author }) => author?.kind === "human");
  if (people.length === 0) return "no person says so";
  const fix = people.findLast(({ kind, suggested_fix }) => kind !== "correct" && suggested_fix !== null);
  const confirmed = people.findLast(({ kind }) => kind === "correct");
  const isWrong = fix !== undefined || people.some(({ kind }) => kind === "incorrect");
  if (confirmed !== undefined && isWrong) return "people disagree on it";
  const label = fix ?? confirmed;
  if (label === undefined) return "people say that it is wrong, and not what would be right";
  const step = record && (await recordedStep(record.kind, textOf));
  if (step === undefined) return "the tape holds no answer of it";
  try {
    const expected = expectationOf(fix?.suggested_fix ?? step.output, step.output);
    const name = `event-${eventId}`;
    const asked = label.metadata.get("input");
    const given = asked === undefined ? {} : { input: plain(asked), notes: [] };
    return { ...step, ...given, name, eventId, row: nameOfRow(label), corrects: fix !== undefined, expected };
  } catch (error) {
    if (error instanceof AppError) return String(error.details["problem"]);
    throw error;
  }
}

/** A fix is anything that JSON can say; one that is no text is compared as the value it is. */
function expectationOf(fix: FreeForm, output: string): Expectation {
  if (typeof fix === "string") return expectedOf(fix, [output]);
  const value = plain(fix);
  return { match: { strategy: "json-match", value }, answer: value };
}

function plain(value: FreeForm): unknown {
  return JSON.parse(printFreeForm(value));
}

export interface RecordedStep {
  readonly input: unknown;
  readonly output: string;
  readonly notes: readonly string[];
}

/** Undefined for a step without an output, or whose output is not readable. */
export async function recordedStep(kind: RecordKind, textOf: TextOf): Promise<RecordedStep | undefined> {
  const step = stepOf(kind);
  const output = step && (await textOf(step.output));
  if (step === undefined || output === undefined) return undefined;
  if (kind.kind === "llm_call" || kind.kind === "decision_evaluation") {
    const note = "A tape has only the digest of what a model was asked; write the question into the input.";
    return { input: { request_digest: kind.request_digest }, output, notes: [note] };
  }
  const input = "body" in step.input ? jsonOrText((await textOf(step.input.body)) ?? "") : step.input.known;
  return { input, output, notes: [] };
}
