import { expect, test } from "vitest";
import { sourceRun } from "../../testing/branches.ts";
import { NODE_TYPES } from "../nodes/all.ts";
import { refuseOutdated } from "./fork-run.ts";

const QUIET = { nodes: { draft: "core.noop" } };
/** A type that is not known may have effects. */
const ACTS = { nodes: { act: "test.acts" } };
const ASKS = { nodes: { draft: "core.noop", gate: "core.approvalGate" }, edges: ["draft>gate"] };
const INPUTS = { inputs: { text: "another" } };
const CONFIGURABLE = { configurable: { colour: "blue" } };

/** The code of the refusal of a branch whose source executed one definition, where another one is registered now. */
async function refusalOf(before: object, now: object | undefined, overlay: object = {}): Promise<unknown> {
  const { plan, run } = sourceRun(before);
  const current = now === undefined ? undefined : sourceRun(now).plan;
  const host = { nodeTypes: NODE_TYPES, plans: { current: async () => current } };
  return refuseOutdated(host, plan, run, overlay).catch(({ code }) => code);
}

test("a branch with other inputs or options is refused where the workflow was registered anew and asks a person", async () => {
  for (const overlay of [INPUTS, CONFIGURABLE]) {
    expect(await refusalOf(QUIET, ASKS, overlay)).toBe("fork_point_invalid");
    expect(await refusalOf(QUIET, ACTS, overlay)).toBeUndefined();
    expect(await refusalOf(ASKS, ASKS, overlay)).toBeUndefined();
    expect(await refusalOf(QUIET, undefined, overlay)).toBeUndefined();
  }
});

test("a branch that changes nothing is refused there only where a node has effects", async () => {
  expect(await refusalOf(ACTS, ASKS)).toBe("fork_point_invalid");
  expect(await refusalOf(QUIET, ASKS)).toBeUndefined();
  expect(await refusalOf(ACTS, QUIET)).toBeUndefined();
});
