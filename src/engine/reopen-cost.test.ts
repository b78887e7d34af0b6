import { describe, expect, test } from "vitest";
import { branchRule, sourceRun } from "../testing/reopen-rule.ts";
import type { Simulation } from "../testing/simulate.ts";

const ACCEPT = { action: "accept" };
const variables = [{ name: "text", type: "string", defaultValue: "harmless" }];
const overlay = { inputs: { text: "another" } };
const HOLDS = { typeId: "core.approvalGate", config: { approvalHoldsForBranches: true, requireBoundVotes: false } };
const starts = (workflowId: string) => ({ typeId: "core.subWorkflow", config: { workflowId } });
const LEVELS = 6;

/** Workflows that dispatch the next one three times; the last one is given. There are 3^6 ways through them. */
function levels(last: object): Simulation[] {
  const between = Array.from({ length: LEVELS }, (_, level) => {
    const next = starts(`level-${level + 1}`);
    return sourceRun({ id: `level-${level}`, nodes: { a: next, b: next, c: next } });
  });
  return [...between, sourceRun({ id: `level-${LEVELS}`, ...last })];
}

/** A source that waits at a gate before it dispatches the first of these workflows. */
const aboveLevels = () =>
  sourceRun({ nodes: { gate: HOLDS, below: starts("level-0") }, edges: ["gate>below"], variables }).go();

/** A source whose gates, all of which hold for branches, were granted after a first node. */
function grantedGates(count: number): Simulation {
  const names = Array.from({ length: count }, (_, i) => `gate${i}`);
  const source = sourceRun({
    nodes: { first: "core.noop", ...Object.fromEntries(names.map((name) => [name, HOLDS])), last: HOLDS },
    edges: names.flatMap((name) => [`first>${name}`, `${name}>last`]),
    variables,
  }).go();
  for (const name of names) source.resolve(name, ACCEPT).go();
  return source;
}

/** Has a member of a node's config that says when it is read. */
function watched(source: Simulation, nodeId: string, onRead: () => void): void {
  const config = source.plan.graph.node.get(nodeId)?.config ?? {};
  Object.defineProperty(config, "watched", {
    enumerable: true,
    get: () => {
      onRead();
      return "a text";
    },
  });
}

describe("a branch of a run", () => {
  test.each([
    ["with a gate at the end", { nodes: { gate: HOLDS } }],
    ["without any gate", { nodes: { a: "core.noop" } }],
    ["that come back to the first one", { nodes: { again: starts("level-0") } }],
  ])(
    "looks at each workflow below it a fixed number of times, however many ways lead through them: %s",
    async (_, last) => {
      const reads = new Map<string, number>();
      const onRead = (workflowId: string) => void reads.set(workflowId, (reads.get(workflowId) ?? 0) + 1);
      expect(await branchRule(aboveLevels(), { overlay, registered: levels(last), onRead })).toEqual([]);
      expect(reads.size).toBe(LEVELS + 1);
      // Once for what it has, and once more for whether it comes to all of its gates.
      expect(Math.max(...reads.values())).toBeLessThanOrEqual(2);
    },
  );

  test("reads the texts of its workflow once for all gates", async () => {
    expect(await branchRule(grantedGates(10), { overlay })).toEqual([]);
    const reads = await readsOf(1);
    expect(reads).toBeGreaterThan(0);
    expect(await readsOf(10)).toBe(reads);
  });

  test("lets other work in between its gates", async () => {
    let turns = 0;
    let done = false;
    const others = async () => {
      while (!done) {
        await new Promise((resolve) => setImmediate(resolve));
        turns += 1;
      }
    };
    const counted = others();
    await branchRule(grantedGates(10), { overlay, change: (run) => ({ ...run, nodes: slowly(run.nodes) }) });
    done = true;
    await counted;
    expect(turns).toBeGreaterThan(1);
  });
});

async function readsOf(gates: number): Promise<number> {
  const source = grantedGates(gates);
  let reads = 0;
  watched(source, "first", () => {
    reads += 1;
  });
  await branchRule(source, { overlay });
  return reads;
}

/** The same members, each of which takes some time to be read. */
function slowly<T extends object>(members: T): T {
  return new Proxy(members, {
    get: (of, name) => {
      const end = performance.now() + 5;
      while (performance.now() < end);
      return Reflect.get(of, name);
    },
  });
}
