import { type Presentation, presentationOf, Stops } from "../../formats/tapes/present.ts";
import { readTape } from "../../formats/tapes/read-tape.ts";
import { readSidecar } from "../../formats/tapes/sidecar/read-sidecar.ts";
import { nameOfRow } from "../../formats/tapes/sidecar/sidecar.ts";
import type { TapeRecord } from "../../formats/tapes/tape.ts";
import { formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { TAPE_PRESENT_FLAGS } from "./commands/patterns.ts";
import { emit } from "./files/emit.ts";
import { watchedBytes } from "./files/file-bytes.ts";
import { presentationJson, stepText } from "./files/present-step.ts";
import { sidecarOf } from "./files/tape-paths.ts";
import { tapeHeader } from "./text/tape-header.ts";

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
