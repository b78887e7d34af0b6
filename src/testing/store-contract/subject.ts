import { expect } from "vitest";
import { type RunEvent, RunEventDoc } from "../../protocol/events.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { parse } from "../../protocol/schema.ts";
import type { Refusal, Store, StoredEvent, Unit } from "../../store/port/store.ts";
import { type Built, runWrite } from "../builders.ts";

/** The store under test; every test has a fresh and empty one. */
export interface Subject {
  readonly store: Store;
  /** Opens the same data again after a close; absent where nothing outlives the process. */
  readonly reopen?: () => Promise<Store>;
}

/** Commits and expects the unit to be accepted. */
export async function accept(store: Store, unit: Unit): Promise<void> {
  expect(await store.commit(unit)).toEqual({ ok: true });
}

/** Commits and expects a refusal, which is returned. */
export async function refused(store: Store, unit: Unit): Promise<Refusal> {
  const committed = await store.commit(unit);
  if (committed.ok) throw new Error("the unit was accepted");
  return committed.refusal;
}

/** Creates the run, or appends to it, in a unit of its own. */
export async function save(store: Store, built: Built): Promise<void> {
  await accept(store, { tenant: built.run.owner.tenant, runs: [runWrite(built)] });
}

export async function eventsOf(store: Store, runId: string): Promise<RunEvent[]> {
  return (await store.readEvents(runId, 0, 10_000)).map(eventOf);
}

export function eventOf({ body, sealed }: StoredEvent): RunEvent {
  const doc = parse(RunEventDoc, JSON.parse(body), "event");
  return { ...doc, ...(sealed === undefined ? {} : { sealed: JSON.parse(sealed) }) } as RunEvent;
}

export async function sequencesOf(store: Store, runId: string): Promise<number[]> {
  return (await store.readEvents(runId, 0, 10_000)).map((event) => event.sequence);
}

/** 0, 1, … `length - 1` */
export function upTo(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}

export function idsOf(runs: readonly Run[]): string[] {
  return runs.map((run) => run.runId);
}
