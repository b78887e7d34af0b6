import { type Presentation, presentationOf, Stops } from "../../formats/sidecar/present.ts";
import { readSidecar } from "../../formats/sidecar/read-sidecar.ts";
import { nameOfRow } from "../../formats/sidecar/sidecar.ts";
import { readTape } from "../../formats/tape/read-tape.ts";
import type { TapeRecord } from "../../formats/tape/tape.ts";
import { formatCount } from "../amount.ts";
import type { Call } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { printable } from "../printable.ts";
import type { TAPE_PRESENT_FLAGS } from "../specs/tape-patterns.ts";
import { emit } from "../tape/emit.ts";
import { watchedBytes } from "../tape/file-bytes.ts";
import { presentationJson, stepText } from "../tape/present-step.ts";
import { tapeHeader } from "../tape/tape-header.ts";
import { sidecarOf } from "../tape/tape-paths.ts";

/** As many as anybody reads. */
const LOST_NAMED = 10;

export async function tapePresent({ args, flags, json, io }: Call<typeof TAPE_PRESENT_FLAGS>): Promise<number> {
  const [tape = ""] = args;
  const presentation = await load(tape, flags.annotations ?? sidecarOf(tape), io);
  const { steps, muted, lost } = presentation;
  if (json) {
    await emit(presentationJson(presentation), undefined, io);
  } else if (steps.length === 0) {
    io.out("There is nothing to stop at: no row is a marker or an alternative.");
  } else if (io.ask !== undefined && io.outIsTerminal) {
    await walk(presentation, io, io.ask);
  } else {
    await emit(allSteps(presentation, io), undefined, io);
  }
  if (muted.length > 0 && !json) io.err(`${formatCount(muted.length, "stop")} left out: the events are muted.`);
  if (lost.length === 0) return EXIT.fine;
  const names = lost.slice(0, LOST_NAMED).map((row) => `${printable(nameOfRow(row))} on event ${row.event_id}`);
  if (lost.length > LOST_NAMED) names.push(`and ${lost.length - LOST_NAMED} more`);
  io.err(`The tape has no such event: ${names.join(", ")}. See \`assay tape validate\`.`);
  return EXIT.invalid;
}

/** The rows first: they say which events of the tape are wanted, and only those are kept. */
async function load(tape: string, sidecar: string, io: Io): Promise<Presentation> {
  // A wrong name is most likely that of the tape; the sidecar's follows from it.
  await tapeHeader(tape);
  const stops = new Stops();
  await readSidecar(sidecar, watchedBytes(sidecar, io), (row) => stops.add(row));
  const plan = stops.finish();
  const records: TapeRecord[] = [];
  await readTape(tape, watchedBytes(tape, io), (record) => {
    if (plan.wants.has(record.seq)) records.push(record);
  });
  return presentationOf(plan, records);
}

function* allSteps({ steps }: Presentation, { paint }: Io): Generator<string> {
  for (const [i, step] of steps.entries()) yield `${i === 0 ? "" : "\n"}${stepText(step, i, steps.length, paint)}\n`;
}

/** Until the last step is left, or whoever looks has seen enough. */
async function walk({ steps }: Presentation, io: Io, ask: NonNullable<Io["ask"]>): Promise<void> {
  for (let at = 0; ; ) {
    const step = steps[at];
    if (step === undefined) return;
    io.out(`${stepText(step, at, steps.length, io.paint)}\n`);
    const next = at + 1 < steps.length ? "Enter next" : "Enter ends";
    const answer = await ask(`${next}, ${at > 0 ? "b back, " : ""}q quit: `);
    // The prompt stands there without an end of its line.
    if (answer === undefined) return io.err("");
    if (/^\s*q/i.test(answer)) return;
    at = /^\s*b/i.test(answer) ? Math.max(0, at - 1) : at + 1;
  }
}
