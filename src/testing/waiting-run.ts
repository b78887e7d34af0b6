import { expect } from "vitest";
import { NODE_TYPES } from "../engine/nodes/all.ts";
import type { NodeContext, NodeOutcome, NodeTypes } from "../engine/worker/node-type.ts";
import type { Interrupt } from "../protocol/gates/interrupt.ts";
import { Type } from "../protocol/schema.ts";
import type { Simulation } from "./simulate.ts";

/** The interrupt that was raised last. */
export function interruptOf({ run }: Simulation): Interrupt {
  const last = Object.values(run.interrupts).at(-1);
  if (last === undefined) throw new Error("the run has asked for nothing");
  return last;
}

export function votesOf(run: Simulation): [string, string][] {
  return interruptOf(run).votes.map(({ voter, action }) => [voter, action]);
}

/** The payloads of all events of a type, oldest first. */
export function payloadsOf({ events }: Simulation, type: string): Readonly<Record<string, unknown>>[] {
  return events.flatMap((event) => (event.type === type ? [event.payload as Record<string, unknown>] : []));
}

/** Nothing that follows the gate, which is called `next`, has begun or is about to. */
export function expectStillWaits(run: Simulation): void {
  expect(interruptOf(run).status).toBe("open");
  expect(run.go().run.status).toBe("waiting-approval");
  expect(run.run.nodes["next"]).toBeUndefined();
}

/** A pure node of the test's own, as `test.node`, beside those there are. */
export function withNode(execute: (context: NodeContext) => NodeOutcome): NodeTypes {
  const config = Type.Object({}, { additionalProperties: true });
  return new Map([
    ...NODE_TYPES,
    ["test.node", { kind: "pure", typeId: "test.node", summary: "Of a test.", config, execute }],
  ]);
}
