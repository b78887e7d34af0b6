import type { Unit } from "../port/store.ts";
import type { PreparedUnit } from "../units/prepare-unit.ts";
import { itemsOf } from "./lock-rows.ts";

export interface SizedUnit extends PreparedUnit {
  /** Roughly, in characters or bytes, of all that can be large. */
  readonly size: number;
}

/** A unit with deletions or preconditions is a batch of its own: all rows it depends on are then in the database, none in memory. */
export function sizeOf(prepared: PreparedUnit): number {
  return standsAlone(prepared.unit) ? Number.POSITIVE_INFINITY : sum(sizes(prepared));
}

function standsAlone({ deletions = [], preconditions = [], reviews = [], documents = [] }: Unit): boolean {
  return (
    deletions.length + preconditions.length > 0 || [...reviews, ...documents].some(({ type }) => type === "delete")
  );
}

function* sizes({ unit, runs, annotations }: PreparedUnit): Iterable<number> {
  yield unit.idempotency?.response.body.length ?? 0;
  for (const { row, events, interrupts } of runs) {
    yield row.state.length;
    for (const { body } of interrupts.interrupts) yield body.length;
    for (const { body, sealed } of events) yield body.length + (sealed?.length ?? 0);
  }
  for (const { body } of unit.artifacts ?? []) yield body.length;
  for (const { after } of annotations) {
    const { note = "", tapeRow = "", signal } = after;
    yield note.length + tapeRow.length + (signal.correction?.length ?? 0);
  }
  for (const { definition } of unit.workflows ?? []) yield definition.length;
  for (const write of unit.externalEvents ?? []) if (write.type === "put") yield write.event.payload.length;
  for (const { body } of (unit.queues ?? []).flatMap(itemsOf)) yield body.length;
  for (const write of unit.tapes ?? []) {
    yield write.type === "sidecar" ? write.sidecar.text.length : write.tape.header.length;
  }
  for (const write of unit.reviews ?? []) {
    if (write.type === "round") yield write.session.memory.length + sum(write.rounds.map(({ body }) => body.length));
  }
  for (const write of unit.documents ?? []) if (write.type !== "delete") yield write.document.body.length;
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
