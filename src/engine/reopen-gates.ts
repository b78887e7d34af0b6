import { shownDigest } from "../formats/gate-digest.ts";
import { AppError } from "../protocol/errors.ts";
import type { RunOptionsOverlay } from "../protocol/fork-api.ts";
import { startersOf } from "../protocol/forked-from.ts";
import { excludesMakersOfStarters, gateRules, isApproval, isSelfApproval } from "../protocol/gate-rules.ts";
import type { Interrupt } from "../protocol/interrupt.ts";
import { DISPATCH, SUPERVISOR } from "../protocol/orchestrator.ts";
import { own } from "../protocol/own.ts";
import { type Child, isSettled, type NodeState, nodeOf, type Run, visitOf } from "../protocol/run.ts";
import type { WorkflowNode } from "../protocol/workflow.ts";
import { changedOptions, withOptions } from "./decide/branch-options.ts";
import { deepEqual } from "./decide/deep-equal.ts";
import { reachableFrom } from "./decide/graph.ts";
import { nodesThatSaw, type OptionReaders, optionReaders, optionsSeenBefore } from "./decide/options-seen.ts";
import type { Plan } from "./decide/plan.ts";
import { isSureToRun, isTakenFrom } from "./decide/sure-to-run.ts";
import { WaysPast } from "./decide/ways-past.ts";
import type { Host } from "./host.ts";
import { makersOfPrincipals } from "./key-origin.ts";
import { nodeInBranch } from "./node-in-branch.ts";
import { hasEffects } from "./node-type.ts";
import { SUB_WORKFLOW } from "./nodes/sub-workflow.ts";
import { pauses } from "./pauses.ts";
import { nodesAfter, PlanFacts, type PlanFactsHost } from "./plan-facts.ts";

interface ReopenHost extends PlanFactsHost {
  readonly store: Pick<Host["store"], "readRun" | "readDocuments" | "listKeys">;
  readonly plans: Pick<Host["plans"], "byHash" | "current">;
}

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
  // The rule computes what each gate shows, and looks for ways past it: a workflow with many gates would hold up other requests.
  const pause = pauses();
  for (const node of plan.graph.order) {
    await pause();
    if (await rule.reopens(node)) found.push(node.id);
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

/** The nodes that must not run without a decision that they were to wait for. */
interface Mattering {
  readonly effects: readonly string[];
  /** Where a run ends that was given other options: its outputs are looked at too. */
  readonly ends: readonly string[];
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
  /** The nodes that start over so far: those that ask again, and all that follow them. */
  readonly #again = new Set<string>();
  /** The nodes so far that complete in the branch unless a node fails, whatever its conditions read. */
  readonly #sure = new Set<string>();
  #past: WaysPast | undefined;
  #readers: OptionReaders | undefined;
  #saw: readonly string[] | undefined;
  #mattering: Promise<Mattering> | undefined;

  constructor(host: ReopenHost, plan: Plan, run: Run, overlay: RunOptionsOverlay) {
    this.#host = host;
    this.#plan = plan;
    this.#run = run;
    this.#after = withOptions(run, overlay);
    this.#changes = changedOptions(run, overlay);
    this.#changed = this.#changes.length > 0;
    this.#facts = new PlanFacts(host, run.owner.tenant);
  }

  /** Asked in the order of the graph: the answer depends on the nodes before. */
  async reopens(node: WorkflowNode): Promise<boolean> {
    const state = nodeOf(this.#run, node.id);
    const visit = visitOf(this.#run, node.id);
    const askedNow = this.#askedNow(node, state);
    const children = Object.entries(this.#run.children).filter(([, one]) => one.nodeId === node.id && one.waits);
    const now = children.filter(([, one]) => one.visit === visit);
    const again =
      isSettled(state) &&
      ((await this.#decisionIsVoid(node, askedNow)) ||
        (await this.#anyChildAsks(node, now)) ||
        (askedNow === undefined && (await this.#mayAskNow(node, state))));
    // What follows a node that starts over starts over already.
    if (again && !this.#again.has(node.id))
      for (const id of reachableFrom(this.#plan.graph, node.id)) this.#again.add(id);
    const startsOver = this.#startsOver(node.id);
    const isSure = startsOver ? this.#runsForSure(node) : state?.status === "completed" && state.verdict === undefined;
    if (isSure) this.#sure.add(node.id);
    if (startsOver && (await this.#isLedPast(node, isSure))) throw this.#ledPast(node);
    const before = children.filter(([, one]) => one.visit !== visit);
    // A dispatch that starts over hands out the workers of its last round only.
    const asks = startsOver && isSure && node.typeId !== DISPATCH;
    if (await (asks ? this.#letOthersPast(node, askedNow, before) : this.#reliesOnEarlier(node, askedNow, before))) {
      throw this.#earlierRound(node);
    }
    return again;
  }

  #startsOver(nodeId: string): boolean {
    return this.#again.has(nodeId) || !isSettled(nodeOf(this.#run, nodeId));
  }

  async #reliesOnEarlier(node: WorkflowNode, askedNow: string | undefined, before: readonly Dispatched[]) {
    // A decision of this round that is kept takes the place of those before it.
    const isKept = !this.#startsOver(node.id) && askedNow !== undefined;
    if (!isKept && (await this.#wasDecidedBefore(node, this.#decidedBefore(node, askedNow)))) return true;
    return this.#anyChildAsks(node, before);
  }

  /** Whether a node may run before this one asks in this round, on account of what was granted in an earlier one. */
  async #letOthersPast(node: WorkflowNode, askedNow: string | undefined, before: readonly Dispatched[]) {
    const granted = this.#decidedBefore(node, askedNow).filter(({ outcome }) => !LETS_NOTHING_THROUGH.has(outcome));
    if (granted.length + before.length === 0) return false;
    const after = new Set(nodesAfter(this.#plan, node.id).map(({ id }) => id));
    const { effects, ends } = await this.#whatMatters();
    const isOpen = [...effects, ...ends].some((id) => after.has(id) && this.#waysPast().leadTo(id, node.id));
    if (isOpen && (await this.#wasDecidedBefore(node, granted))) return true;
    // Runs of many rounds are read only where their gates are not all asked again.
    const asksAll = !isOpen && (await this.#facts.asksAtAllGates(node));
    return !asksAll && this.#anyChildAsks(node, before);
  }

  /**
   * Whether a gate that is still to come may be passed by because of a result that is kept and did not see what the branch
   * changes, such as a score of the first text.
   */
  async #isLedPast(node: WorkflowNode, isSure: boolean): Promise<boolean> {
    if (!this.#changed) return false;
    if (node.typeId === DISPATCH) return this.#doesWhatWasDecided(node);
    if (!(await this.#facts.asksPerson([node]))) return false;
    const asks = isSure && (await this.#facts.asksAtAllGates(node));
    if (asks || !this.#isSeenByKept()) return false;
    const { effects, ends } = await this.#whatMatters();
    // Past the gates of a sub-workflow leads what follows it, and the sub-workflow itself.
    if (isSure) return effects.includes(node.id) || ends.length > 0 || this.#effectsAfter(node);
    const past = this.#waysPast();
    const mayRun = (id: string) => this.#plan.graph.backFrom.size > 0 || this.#startsOver(id);
    const isOpen = (id: string) => past.leadTo(id, node.id) && mayRun(id);
    return effects.some(isOpen) || ends.some((id) => past.isAfter(node.id, id) && isOpen(id));
  }

  /** Whether a dispatch has yet to do what a supervisor decided for the first options: which workers, and whether to ask first. */
  #doesWhatWasDecided({ id }: WorkflowNode): boolean {
    const isKept = (one: WorkflowNode) => one.typeId === SUPERVISOR && !this.#startsOver(one.id);
    return !isSettled(nodeOf(this.#run, id)) && this.#plan.graph.order.some(isKept);
  }

  /** Whether a result that is kept, of this round or an earlier one, may come from what the branch changes. */
  #isSeenByKept(): boolean {
    this.#saw ??= nodesThatSaw(this.#plan, this.#run, this.#changes, this.#isOpaque);
    return this.#saw.some((id) => visitOf(this.#run, id) > 0 || !this.#startsOver(id));
  }

  #waysPast(): WaysPast {
    this.#past ??= new WaysPast(this.#plan);
    return this.#past;
  }

  #whatMatters(): Promise<Mattering> {
    this.#mattering ??= this.#findMattering();
    return this.#mattering;
  }

  async #findMattering(): Promise<Mattering> {
    const { order, forwardFrom } = this.#plan.graph;
    const effects: string[] = [];
    for (const node of order) if (await this.#facts.hasEffects(node)) effects.push(node.id);
    const isEnd = ({ id, disabled }: WorkflowNode) => !disabled && (forwardFrom.get(id) ?? []).length === 0;
    return { effects, ends: this.#changed ? order.filter(isEnd).map(({ id }) => id) : [] };
  }

  /** The interrupt of this round. Its id is not in the state of a node that was paused, or ended by a crash, after the answer. */
  #askedNow({ id }: WorkflowNode, state: NodeState | undefined): string | undefined {
    const key = `${id}:${visitOf(this.#run, id)}`;
    const isOfThisRound = (one: Interrupt) => one.nodeId === id && one.key === key && one.reopened === undefined;
    return state?.interruptId ?? Object.values(this.#run.interrupts).find(isOfThisRound)?.interruptId;
  }

  #runsForSure(node: WorkflowNode): boolean {
    return isSureToRun(this.#plan, node, this.#sure, (edge, { id, typeId, config }) => {
      const state = nodeOf(this.#run, id);
      // What a gate decides that asks again is no obstacle: a person makes that decision anew.
      if (this.#startsOver(id)) return this.#host.nodeTypes.get(typeId)?.asksPerson?.(config) === true;
      return state !== undefined && isTakenFrom(this.#after, edge, state);
    });
  }

  /** Whether the node was asked at, and what was decided does not hold for the branch. */
  async #decisionIsVoid(node: WorkflowNode, interruptId: string | undefined): Promise<boolean> {
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
  async #isSelfApproved({ data, votes }: Interrupt): Promise<boolean> {
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
    if (outcome?.type !== "suspend") return false;
    const { request } = outcome;
    // The digest leaves names out. Here they count: inputs may choose the artifact by its id alone.
    if (["artifactId", "gateId"].some((name) => request.data[name] !== data[name])) return false;
    return shownDigest(request) === shownDigest({ kind, data });
  }

  /** Whether what led to the node may have come from options that the branch changes, and is kept as it was. */
  #changesWereSeenBefore({ id }: WorkflowNode): boolean {
    if (!this.#changed) return false;
    this.#readers ??= optionReaders(this.#plan, this.#changes, this.#isOpaque);
    return optionsSeenBefore(this.#plan, this.#run, id, this.#readers);
  }

  readonly #isOpaque = (node: WorkflowNode): boolean =>
    node.typeId === DISPATCH || hasEffects(this.#host.nodeTypes, node);

  /** A gate that the first inputs led past, or that could not ask with them, may ask with others. */
  async #mayAskNow(node: WorkflowNode, { status }: NodeState): Promise<boolean> {
    if (!this.#changed || node.typeId === DISPATCH) return false;
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

  /** What was decided at the node, without the decision of this round and those that do not hold. */
  #decidedBefore(node: WorkflowNode, askedNow: string | undefined): Interrupt[] {
    return Object.values(this.#run.interrupts).filter(
      ({ nodeId, interruptId, reopened, kind }) =>
        nodeId === node.id && interruptId !== askedNow && reopened === undefined && kind !== "external-event",
    );
  }

  /** Whether there are decisions of earlier rounds, and they do not hold for the branch. */
  async #wasDecidedBefore(node: WorkflowNode, decided: readonly Interrupt[]): Promise<boolean> {
    return decided.length > 0 && (this.#changed || this.#effectsAfter(node));
  }

  /**
   * A decision of an earlier round of a loop, at a node that this round may pass by or dispatches another run from, cannot
   * be asked for again from the fork point: the branch has to begin before that decision.
   */
  #earlierRound({ id: nodeId }: WorkflowNode): AppError {
    const problem = `a gate of node ${nodeId} was decided in an earlier round of its loop, and the branch could go on without asking again; branch from before that decision`;
    return new AppError("fork_point_invalid", { problem, sourceRunId: this.#run.forkedFrom?.runId, nodeId });
  }

  #ledPast({ id: nodeId }: WorkflowNode): AppError {
    const problem = `whether a gate of node ${nodeId} asks may depend on a result that is kept and was made without what the branch changes; branch from before the first node that reads it`;
    return new AppError("fork_point_invalid", { problem, sourceRunId: this.#run.forkedFrom?.runId, nodeId });
  }
}

/** Outcomes of a gate that was not passed. */
const LETS_NOTHING_THROUGH: ReadonlySet<string | undefined> = new Set(["rejected", "refined", "timeout"]);

/** Whether a decision may be kept. An event from outside decides nothing, and is kept where the same one is waited for. */
function mayHold({ config }: WorkflowNode, { kind }: Interrupt): boolean {
  return config["approvalHoldsForBranches"] === true || kind === "external-event";
}
