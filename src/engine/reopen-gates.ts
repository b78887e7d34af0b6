import { shownDigest } from "../formats/gate-digest.ts";
import { AppError } from "../protocol/errors.ts";
import type { RunOptionsOverlay } from "../protocol/fork-api.ts";
import { startersOf } from "../protocol/forked-from.ts";
import { excludesMakersOfStarters, gateRules, isApproval, isSelfApproval } from "../protocol/gate-rules.ts";
import type { Interrupt } from "../protocol/interrupt.ts";
import { DISPATCH } from "../protocol/orchestrator.ts";
import { own } from "../protocol/own.ts";
import { type Child, isSettled, type NodeState, nodeOf, type Run, visitOf } from "../protocol/run.ts";
import type { WorkflowNode } from "../protocol/workflow.ts";
import { changedOptions, withOptions } from "./decide/branch-options.ts";
import { deepEqual } from "./decide/deep-equal.ts";
import { optionsSeenBefore } from "./decide/options-seen.ts";
import type { Plan } from "./decide/plan.ts";
import type { Host } from "./host.ts";
import { makersOfPrincipals } from "./key-origin.ts";
import { nodeInBranch } from "./node-in-branch.ts";
import { hasEffects } from "./node-type.ts";
import { SUB_WORKFLOW } from "./nodes/sub-workflow.ts";
import { PlanFacts } from "./plan-facts.ts";

type ReopenHost = Pick<Host, "plans" | "nodeTypes" | "store">;

/**
 * The gates of a branch that ask again although they were decided before the fork point, and the sub-workflows that
 * start over because of a gate below them.
 *
 * A decision is for what the voters were shown and for what it let through. It does not hold when the branch has other
 * inputs or options, or when a node with effects follows the gate: that effect would happen once more, on votes given
 * for the first one. `approvalHoldsForBranches: true` keeps a decision as long as the gate would show the same, and no result
 * that led to it came from what the branch changes.
 */
export async function gatesToReopen(
  host: ReopenHost,
  plan: Plan,
  run: Run,
  overlay: RunOptionsOverlay,
): Promise<string[]> {
  const rule = new ReopenRule(host, plan, run, overlay);
  const found: string[] = [];
  for (const node of plan.graph.order) {
    const state = nodeOf(run, node.id);
    if (isSettled(state) && (await rule.reopens(node, state))) found.push(node.id);
  }
  return found;
}

/** How a run below the branch came about. */
interface Below {
  /** Whether it would be given the same inputs again. */
  readonly sameInputs: boolean;
  /** Whether a node with effects follows it in the runs above. */
  readonly effectsAbove: boolean;
}

type Dispatched = readonly [runId: string, child: Child];

class ReopenRule {
  readonly #host: ReopenHost;
  readonly #plan: Plan;
  readonly #run: Run;
  /** The run with the options of the branch. */
  readonly #after: Run;
  readonly #changes: readonly string[];
  readonly #changed: boolean;
  readonly #facts: PlanFacts;

  constructor(host: ReopenHost, plan: Plan, run: Run, overlay: RunOptionsOverlay) {
    this.#host = host;
    this.#plan = plan;
    this.#run = run;
    this.#after = withOptions(run, overlay);
    this.#changes = changedOptions(run, overlay);
    this.#changed = this.#changes.length > 0;
    this.#facts = new PlanFacts(host, run.owner.tenant);
  }

  async reopens(node: WorkflowNode, state: NodeState): Promise<boolean> {
    const visit = visitOf(this.#run, node.id);
    const children = Object.entries(this.#run.children).filter(([, one]) => one.nodeId === node.id && one.waits);
    const now = children.filter(([, one]) => one.visit === visit);
    const again =
      (await this.#decisionIsVoid(node, state)) ||
      (await this.#anyChildAsks(node, now)) ||
      (now.length === 0 && (await this.#mayAskNow(node, state)));
    // A dispatch that starts over hands out the workers of its last round only.
    if (!again || state.status === "skipped" || node.typeId === DISPATCH) {
      const before = children.filter(([, one]) => one.visit !== visit);
      await this.#refuseEarlierRounds(node, state, before);
    }
    return again;
  }

  /** Whether the node was asked at, and what was decided does not hold for the branch. */
  async #decisionIsVoid(node: WorkflowNode, { interruptId }: NodeState): Promise<boolean> {
    if (interruptId === undefined) return false;
    const interrupt = own(this.#run.interrupts, interruptId);
    if (interrupt === undefined || (await this.#isSelfApproved(interrupt))) return true;
    const isDue = this.#changed || (interrupt.kind !== "external-event" && (await this.#effectsAfter(node)));
    return isDue && !(mayHold(node, interrupt) && this.#showsTheSame(node, interrupt));
  }

  #effectsAfter({ id }: WorkflowNode): Promise<boolean> {
    return this.#facts.effectsAfter(this.#plan, id);
  }

  /** Whether one of those behind the branch approved at a gate that forbids it. */
  async #isSelfApproved({ kind, data, votes }: Interrupt): Promise<boolean> {
    if (kind !== "approval") return false;
    const rules = gateRules(data);
    const starters = startersOf(this.#run);
    const approvals = votes.filter(isApproval);
    if (approvals.some((vote) => isSelfApproval(rules, vote, starters))) return true;
    if (!excludesMakersOfStarters(rules)) return false;
    const makers = await makersOfPrincipals(this.#host.store, this.#run.owner.tenant, starters);
    return approvals.some(({ principal }) => makers.includes(principal));
  }

  #showsTheSame(node: WorkflowNode, { kind, data }: Interrupt): boolean {
    if (kind !== "external-event" && this.#changesWereSeenBefore(node)) return false;
    const outcome = nodeInBranch(this.#host.nodeTypes, this.#plan, this.#after, node);
    if (outcome?.type !== "suspend" || outcome.request.kind !== kind) return false;
    const { data: now } = outcome.request;
    // The digest leaves names out. Here they count: inputs may choose the artifact by its id alone.
    if (["artifactId", "gateId"].some((name) => now[name] !== data[name])) return false;
    return shownDigest({ kind, data: now }) === shownDigest({ kind, data });
  }

  /** Whether what led to the node may have come from options that the branch changes, and is kept as it was. */
  #changesWereSeenBefore({ id }: WorkflowNode): boolean {
    if (!this.#changed) return false;
    const isOpaque = (node: WorkflowNode) => node.typeId === DISPATCH || hasEffects(this.#host.nodeTypes, node);
    return optionsSeenBefore(this.#plan, this.#run, id, this.#changes, isOpaque);
  }

  /** A gate that the first inputs led past, or that could not ask with them, may ask with others. */
  async #mayAskNow(node: WorkflowNode, { status, interruptId }: NodeState): Promise<boolean> {
    if (!this.#changed || interruptId !== undefined || node.typeId === DISPATCH) return false;
    if (node.typeId === SUB_WORKFLOW && status !== "skipped") return false;
    return this.#facts.asksPerson([node]);
  }

  async #anyChildAsks(node: WorkflowNode, children: readonly Dispatched[]): Promise<boolean> {
    if (children.length === 0) return false;
    const effectsAbove = await this.#effectsAfter(node);
    for (const [runId] of children) {
      const below = (child: Run): Below => ({ sameInputs: this.#sameInputs(node, child), effectsAbove });
      if (await this.#childAsks(runId, below)) return true;
    }
    return false;
  }

  #sameInputs(node: WorkflowNode, child: Run): boolean {
    const outcome = nodeInBranch(this.#host.nodeTypes, this.#plan, this.#after, node);
    if (outcome?.type !== "dispatch" || node.typeId !== SUB_WORKFLOW) return false;
    return deepEqual(outcome.inputs, child.inputs) && !this.#changesWereSeenBefore(node);
  }

  /** Whether a gate in a run below has to ask again. A run that is no longer there, or too large to be read, may have had one. */
  async #childAsks(runId: string, belowOf: (child: Run) => Below): Promise<boolean> {
    const child = await this.#host.store.readRun({ tenant: this.#run.owner.tenant }, runId);
    if (child === undefined || child.stateOmitted !== undefined) return true;
    const below = belowOf(child);
    const plan = await this.#host.plans.byHash(child.workflowHash);
    for (const interrupt of Object.values(child.interrupts)) {
      if (await this.#isVoidBelow(plan, interrupt, below)) return true;
    }
    if (this.#changed && !below.sameInputs && (await this.#facts.asksPerson(plan.graph.order))) return true;
    for (const [grandchildId, { waits, nodeId }] of Object.entries(child.children)) {
      if (!waits) continue;
      const effectsAbove = below.effectsAbove || (await this.#facts.effectsAfter(plan, nodeId));
      if (await this.#childAsks(grandchildId, () => ({ ...below, effectsAbove }))) return true;
    }
    return false;
  }

  async #isVoidBelow(plan: Plan, interrupt: Interrupt, { sameInputs, effectsAbove }: Below): Promise<boolean> {
    if (await this.#isSelfApproved(interrupt)) return true;
    const node = plan.graph.node.get(interrupt.nodeId);
    if (node !== undefined && mayHold(node, interrupt) && sameInputs) return false;
    if (interrupt.kind === "external-event") return this.#changed;
    return this.#changed || effectsAbove || this.#facts.effectsAfter(plan, interrupt.nodeId);
  }

  /**
   * A decision of an earlier round of a loop, at a node that this round passed by or dispatched another run from, cannot
   * be asked for again from the fork point: the branch has to begin before that decision.
   */
  async #refuseEarlierRounds(
    node: WorkflowNode,
    { status }: NodeState,
    children: readonly Dispatched[],
  ): Promise<void> {
    const passedBy =
      status === "skipped" && this.#wasDecided(node) && (this.#changed || (await this.#effectsAfter(node)));
    if (!passedBy && !(await this.#anyChildAsks(node, children))) return;
    const problem = `a gate of node ${node.id} was decided in an earlier round of its loop, and the branch would go on without asking again; branch from before that decision`;
    throw new AppError("fork_point_invalid", { problem, sourceRunId: this.#run.forkedFrom?.runId, nodeId: node.id });
  }

  #wasDecided({ id }: WorkflowNode): boolean {
    return Object.values(this.#run.interrupts).some(
      ({ nodeId, reopened, kind }) => nodeId === id && reopened === undefined && kind !== "external-event",
    );
  }
}

/** Whether a decision may be kept. An event from outside decides nothing, and is kept where the same one is waited for. */
function mayHold({ config }: WorkflowNode, { kind }: Interrupt): boolean {
  return config["approvalHoldsForBranches"] === true || kind === "external-event";
}
