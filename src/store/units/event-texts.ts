import { setImmediate as nextTurn } from "node:timers/promises";
import { eventDoc, type RunEvent } from "../../protocol/events.ts";
import type { Unit } from "../port/store.ts";

/** An event as it is stored: what is served, and what is sealed. */
export interface EventText {
  readonly body: string;
  readonly sealed: string | null;
}

export type EventTexts = ReadonlyMap<RunEvent, EventText>;

/** Fewer are written out in no time. */
const MANY_EVENTS = 256;
/** How long events are written out before other work has its turn. */
const AT_ONCE_MS = 5;

export function eventText(event: RunEvent): EventText {
  return {
    body: JSON.stringify(eventDoc(event)),
    sealed: event.sealed === undefined ? null : JSON.stringify(event.sealed),
  };
}

export function isLongUnit({ runs = [], large = false }: Unit): boolean {
  return large || runs.some(({ events }) => events.length > MANY_EVENTS);
}

/** The texts of all events of a unit, written out a few at a time: a tape of many records must not hold up other requests. */
export async function writeEvents({ runs = [] }: Unit): Promise<EventTexts> {
  const texts = new Map<RunEvent, EventText>();
  let untilMs = performance.now() + AT_ONCE_MS;
  for (const event of runs.flatMap(({ events }) => events)) {
    texts.set(event, eventText(event));
    if (performance.now() < untilMs) continue;
    await nextTurn();
    untilMs = performance.now() + AT_ONCE_MS;
  }
  // What is left to be written out is the run itself.
  await nextTurn();
  return texts;
}
