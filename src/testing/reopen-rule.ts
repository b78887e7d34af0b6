import type { NodeType, NodeTypes } from "../engine/node-type.ts";
import { NODE_TYPES } from "../engine/nodes/all.ts";
import { gatesToReopen } from "../engine/reopen-gates.ts";
import { AppError } from "../protocol/errors.ts";
import type { RunOptionsOverlay } from "../protocol/fork-api.ts";
import { type Child, fold, type Run } from "../protocol/run.ts";
import { Type } from "../protocol/schema.ts";
import { type Simulation, simulate } from "./simulate.ts";
import { type WorkflowSpec, workflow } from "./workflow.ts";

const config = Type.Object({}, { additionalProperties: true });

/** Sets the variables of its config. */
const SETS: NodeType = {
  kind: "pure",
  typeId: "test.sets",
  summary: "Sets variables.",
  config,
  execute: ({ config: { variables = {} } }) => ({
    type: "completed",
    outputs: {},
    variables: variables as Readonly<Record<string, unknown>>,
  }),
};

/** A node that would dispatch runs, and in a simulation does not: a test says which runs there are. */
const dispatches = (typeId: string): NodeType => ({
  kind: "pure",
  typeId,
  summary: "Dispatches.",
  config,
  execute: () => ({ type: "completed", outputs: {} }),
});

const byId = (types: readonly NodeType[]): [string, NodeType][] => types.map((type) => [type.typeId, type]);
const TYPES: NodeTypes = new Map([...NODE_TYPES, ...byId([SETS])]);
const SIMULATED: NodeTypes = new Map([
  ...TYPES,
  ...byId([dispatches("core.subWorkflow"), dispatches("core.dispatch")]),
]);

/** The source of a branch, without a store. `test.sets` sets the variables of its config. */
export function sourceRun(spec: object, request: object = {}): Simulation {
  return simulate(workflow(spec as WorkflowSpec), request, { nodeTypes: SIMULATED });
}

/** A run that a node of the source dispatched. Undefined is one that is deleted. */
export interface Dispatched {
  readonly link: Child;
  readonly source: Simulation | undefined;
  readonly runId: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly below: readonly Dispatched[];
}

type DispatchedAs = Partial<Child> & Partial<Pick<Dispatched, "inputs" | "below">>;

let dispatched = 0;

export function childOfNode(nodeId: string, source: Simulation | undefined, as: DispatchedAs = {}): Dispatched {
  const { inputs = {}, below = [], ...more } = as;
  dispatched += 1;
  const link: Child = {
    nodeId,
    visit: 0,
    workflowId: source?.plan.definition.id ?? "deleted",
    status: "completed",
    waits: true,
    propagates: true,
    takes: [],
    ...more,
  };
  return { link, source, runId: `run-below-${dispatched}`, inputs, below };
}

interface Branch {
  /** The sequence to branch from; without it, after all events. */
  readonly at?: number;
  readonly overlay?: RunOptionsOverlay;
  /** The types of nodes that have effects. */
  readonly effects?: readonly string[];
  readonly children?: readonly Dispatched[];
  /** The definitions that are registered, beside those of the runs. */
  readonly registered?: readonly Simulation[];
  /** Told of each definition that is read. */
  onRead?(workflowId: string): void;
  change?(run: Run): Run;
}

/** The gates that a branch of the source asks at again, or the code with which the branch is refused, and the node. */
export async function branchRule(source: Simulation, branch: Branch = {}): Promise<string[] | string> {
  const { at = source.events.length, overlay = {}, effects = [], children = [], change = (run) => run } = branch;
  const copied = fold(source.events.slice(0, at));
  if (copied === undefined) throw new Error("a branch keeps the first event at least");
  const family = children.flatMap(withBelow);
  const plans = [...family.flatMap((one) => one.source ?? []), ...(branch.registered ?? [])].map(({ plan }) => plan);
  const runs = new Map(
    family.flatMap((one) => (one.source === undefined ? [] : [[one.runId, runOf(one, one.source)]])),
  );
  const host = {
    nodeTypes: new Map([...TYPES, ...effects.map((typeId) => [typeId, asEffect(typeId)] as const)]),
    plans: {
      byHash: async (hash: string) => found(plans.find((plan) => plan.hash === hash)),
      current: async (_: string, workflowId: string) => {
        branch.onRead?.(workflowId);
        return plans.find(({ definition }) => definition.id === workflowId);
      },
    },
    store: {
      readDocuments: async () => [],
      listKeys: async () => [],
      readRun: async ({ tenant }: { readonly tenant: string }, id: string) =>
        tenant === copied.owner.tenant ? runs.get(id) : undefined,
    },
  };
  const run = change({ ...copied, children: linksOf(children) });
  return gatesToReopen(host, source.plan, run, overlay, source.events.slice(0, at)).catch((error: unknown) => {
    if (error instanceof AppError) return `${error.code} ${error.details["nodeId"]}`;
    throw error;
  });
}

function withBelow(one: Dispatched): Dispatched[] {
  return [one, ...one.below.flatMap(withBelow)];
}

function runOf({ runId, inputs, below }: Dispatched, { run }: Simulation): Run {
  return { ...run, runId, inputs, children: linksOf(below) };
}

function linksOf(children: readonly Dispatched[]): Run["children"] {
  return Object.fromEntries(children.map(({ runId, link }) => [runId, link]));
}

function asEffect(typeId: string): NodeType {
  const execute = async () => ({ type: "completed", outputs: {} }) as const;
  return { kind: "effect", typeId, summary: "Acts.", config, execute };
}

function found<T>(one: T | undefined): T {
  if (one === undefined) throw new Error("no such plan");
  return one;
}
