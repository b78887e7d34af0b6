import { expect, test } from "vitest";
import { openInterrupts } from "../../protocol/runs/run.ts";
import { acted, actedWithoutVotes, branchOf, sourceRun } from "../../testing/branches.ts";
import { IS_LONG_FORM } from "../../testing/long-form.ts";
import type { Simulation } from "../../testing/simulate.ts";
import { cancelRun } from "./decide/end-run.ts";

const ACCEPT = { action: "accept" };
const REFINE = { action: "refine", refineFeedback: { scope: "whole", text: "shorter" } };
const FLAGS = ["a", "b", "c"];
const RULES = ["all_success", "any_success", "none_failed", "all_complete"];
/** A node with effects whose inputs are not there. */
const MISSING = { to: { type: "variable", variableName: "missing" } };
const WORKFLOWS = IS_LONG_FORM ? 1_000 : 60;

/** Numbers that are the same in every run of the test. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

type Random = ReturnType<typeof random>;

function randomNode(next: Random): object {
  const kind = next(6);
  if (kind <= 1)
    return { typeId: "core.approvalGate", config: { actions: ["accept", "refine"], requireBoundVotes: false } };
  if (kind === 5 && next(2)) {
    const flag = FLAGS[next(3)] as string;
    // Reads what it writes: executed twice, it says the opposite.
    return { typeId: "core.identity", inputs: { [flag]: { type: "expression", expression: `!variables.${flag}` } } };
  }
  if (kind === 2 || kind === 5)
    return { typeId: "test.sets", config: { variables: { [FLAGS[next(3)] as string]: next(3) > 0 } } };
  if (kind === 3 && next(6) === 0) return { typeId: "test.acts", inputs: MISSING };
  return { typeId: kind === 3 ? "test.acts" : "core.noop" };
}

function randomCondition(next: Random, least = 0): object {
  const kind = least + next(6 - least);
  if (kind <= 2) return {};
  if (kind === 3)
    return { condition: { type: "equals", left: "output.decision", right: next(2) ? "granted" : "refined" } };
  return { condition: { type: kind === 4 ? "truthy" : "falsy", left: `variables.${FLAGS[next(3)]}` } };
}

/** Gates, effects, nodes that set variables, conditions that read them, joins of each kind and loops. */
function randomSpec(next: Random): object {
  const count = 3 + next(6);
  const ids = Array.from({ length: count }, (_, i) => `n${i}`);
  const edges: object[] = [];
  for (let to = 1; to < count; to++) {
    const triggerRule = RULES[next(4)];
    const from = new Set([next(to), ...(next(2) ? [next(to)] : [])]);
    for (const one of from) edges.push({ from: ids[one], to: ids[to], triggerRule, ...randomCondition(next) });
  }
  if (next(2)) {
    const to = next(count - 1);
    // A loop without a condition goes round until its limit; where it stops depends on which node comes first.
    const back = { from: ids[to + 1 + next(count - 1 - to)], to: ids[to], ...randomCondition(next, 3) };
    const isForward = edges.some((edge) => JSON.stringify(edge).includes(`"from":"${back.to}","to":"${back.from}"`));
    if (isForward) edges.push(back);
  }
  return {
    nodes: Object.fromEntries(ids.map((id) => [id, randomNode(next)])),
    edges,
    variables: FLAGS.map((name) => ({ name, type: "boolean", defaultValue: false })),
    settings: { maxLoopbackIterations: 2 },
  };
}

/** Answers what is asked, at most so often; cancels some runs after that. */
function voted(run: Simulation, next: Random, votes: number): Simulation {
  run.go();
  for (let i = 0; i < votes; i++) {
    const open = openInterrupts(run.run);
    const one = open[next(open.length)];
    if (one === undefined) break;
    run.resolve(one.nodeId, next(3) ? ACCEPT : REFINE).go();
  }
  if (next(5) === 0) run.decide((one) => cancelRun(one, { by: "p1" }));
  return run;
}

test("no branch acts without votes where a new run would not, wherever it begins and whatever it changes", async () => {
  let [branches, wentBack, effects] = [0, 0, 0];
  for (let seed = 1; seed <= WORKFLOWS; seed++) {
    const next = random(seed);
    const spec = randomSpec(next);
    if (!JSON.stringify(spec).includes("core.approvalGate")) continue;
    const source = voted(sourceRun(spec), next, next(6));
    effects += acted(source).length;
    const overlays = [{}, ...FLAGS.flatMap((name) => [true, false].map((value) => ({ inputs: { [name]: value } })))];
    for (let at = 1; at <= source.events.length; at++) {
      const overlay = overlays[next(overlays.length)] ?? {};
      for (const one of [{}, overlay]) {
        const told = `seed ${seed} at ${at} ${JSON.stringify(one)} ${JSON.stringify(spec)}`;
        expect(await actedWithoutVotes(source, { at, overlay: one }), told).toEqual([]);
        branches += 1;
      }
    }
    const at = 1 + next(source.events.length);
    const first = await branchOf(source, { at, overlay: overlays[next(overlays.length)] ?? {} });
    if (first === undefined) continue;
    const began = first.events.findLast(({ type }) => type === "assay.branch.began");
    if (began?.type === "assay.branch.began" && began.payload.goesBackTo !== undefined) wentBack += 1;
    const isChanged = began?.type === "assay.branch.began" && (began.payload.changes ?? []).length > 0;
    const given = isChanged ? (began.payload.inputs ?? {}) : {};
    voted(first, next, next(4));
    for (let point = 1; point <= first.events.length; point++) {
      const overlay = overlays[next(overlays.length)] ?? {};
      for (const one of [{}, overlay]) {
        const told = `seed ${seed} branch of a branch at ${at}, ${point} ${JSON.stringify(one)} ${JSON.stringify(spec)}`;
        expect(await actedWithoutVotes(first, { at: point, overlay: one }, point > at ? given : {}), told).toEqual([]);
        branches += 1;
      }
    }
  }
  // The test is about something: there are effects, and gates that ask again.
  expect(branches).toBeGreaterThan(5 * WORKFLOWS);
  expect(wentBack).toBeGreaterThan(WORKFLOWS / 20);
  expect(effects).toBeGreaterThan(WORKFLOWS / 5);
});
