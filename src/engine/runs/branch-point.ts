import type { RunEvent } from "../../protocol/events.ts";
import { excludesMakersOfStarters, gateRules, isApproval, isSelfApproval } from "../../protocol/gates/gate-rules.ts";
import type { Interrupt } from "../../protocol/gates/interrupt.ts";
import type { RunOptionsOverlay } from "../../protocol/runs/fork-api.ts";
import { type ForkMode, startersOf } from "../../protocol/runs/forked-from.ts";
import { DISPATCH } from "../../protocol/runs/orchestrator.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { Host } from "../host.ts";
import { makersOfPrincipals } from "../identity/key-origin.ts";
import { SUB_WORKFLOW } from "../nodes/sub-workflow.ts";
import { typeOf } from "../worker/node-type.ts";
import { pauses } from "../worker/pauses.ts";
import type { Plan } from "../workflows/decide/plan.ts";
import { PlanFacts, type PlanFactsHost } from "../workflows/plan-facts.ts";
import { BEGINNING, type Beginnings, beginnings, lettingGo } from "./decide/beginnings.ts";
import { type BranchPoint, changedOptions } from "./decide/fork-run.ts";
import {
  decidedBefore,
  firedBefore,
  type GoingBack,
  goingBack,
  isFromOutside,
  restoring,
  stateBefore,
  underWay,
  withoutSealed,
} from "./decide/go-back.ts";

interface BranchHost extends PlanFactsHost {
  readonly store: Pick<Host["store"], "readRun" | "readDocuments" | "keysOf">;
  readonly plans: Pick<Host["plans"], "byHash" | "current">;
}

/** Steps back in a row after which a branch begins anew: each step reads the log once more. */
const STEPS_MAX = 8;

/**
 * The point before its fork point that a branch goes back to; undefined where it begins at its fork point.
 *
 * A decision at a gate is for what the gate showed and for the effects that it allowed. Where a decision does not hold for the branch, the
 * branch goes back to the moment before the gate began. That is a state which the source really had, so no result, variable or earlier
 * round from after the gate can lead past the gate.
 *
 * - With other inputs or options, a branch of a workflow that asks a person or waits for an event begins anew: any result
 *   before the fork point may depend on the first values.
 * - Otherwise a decision does not hold where a node with effects follows, because the effect would happen once more, or where a starter of
 *   the branch made the decision against the rules of the gate.
 * - A branch of a branch begins anew where any node has effects, or where that branch asked again: its log has decisions that no
 *   longer count. A branch of a replay begins anew: its decisions were copied, not made.
 * - A gate with `approvalHoldsForBranches: true` keeps its decision as long as it shows the same.
 */
export async function branchPoint(
  host: BranchHost,
  plan: Plan,
  run: Run,
  overlay: RunOptionsOverlay,
  { history, sourceMode, readOn }: SourceLog,
): Promise<BranchPoint | undefined> {
  const rule = new BranchRule(host, plan, run);
  if (!(await rule.matters())) return undefined;
  let sequence = (await rule.sequence(overlay, history, sourceMode)) ?? history.length;
  let then = sequence === history.length ? run : stateBefore(history, sequence);
  let decided = sequence === BEGINNING ? NOTHING : await rule.decided(then, history, sequence, readOn);
  if (decided === undefined) {
    decided = NOTHING;
    sequence = BEGINNING;
    then = stateBefore(history, sequence);
  }
  if (sequence === history.length) return { decided };
  const holding = await rule.holding();
  const sealed = goingBack(run, then, ({ interruptId }) => holding.has(interruptId));
  const seen = withoutSealed(history);
  const shown =
    seen === history ? sealed.restores : restoring(stateBefore(seen, seen.length), stateBefore(seen, sequence));
  const back = { sealed, shown, reopens: await rule.reopened(sealed), changes: changedOptions(then, overlay) };
  return { decided, back };
}

const NOTHING: BranchPoint["decided"] = { starts: [], skips: [] };

/** The log of a source. */
interface SourceLog {
  /** Up to the fork point. */
  readonly history: readonly RunEvent[];
  /** Of a source that is a fork itself. */
  readonly sourceMode: ForkMode | undefined;
  /** So many events after the fork point, or fewer where there are no more. */
  readOn(count: number): Promise<LaterEvents>;
}

export interface LaterEvents {
  readonly events: readonly RunEvent[];
  /** Whether there are more than were read, because they are large. */
  readonly isCut: boolean;
}

/** Events within which nodes that were decided about together begin; where they do not, the branch begins anew. */
const TOGETHER_MAX = 2000;

/** Whether an event is the beginning of a branch that went back, or got other options. */
function asksAgain(event: RunEvent): boolean {
  if (event.type !== "assay.branch.began") return false;
  const { goesBackTo, reopens, changes = [] } = event.payload;
  return goesBackTo !== undefined || reopens !== undefined || changes.length > 0;
}

class BranchRule {
  readonly #host: BranchHost;
  readonly #plan: Plan;
  readonly #run: Run;
  readonly #facts: PlanFacts;
  readonly #pause = pauses();

  constructor(host: BranchHost, plan: Plan, run: Run) {
    this.#host = host;
    this.#plan = plan;
    this.#run = run;
    this.#facts = new PlanFacts(host, run.owner.tenant);
  }

  /** Whether the run may ask a person or wait for an event, or has done so: a child workflow may have had a gate then. */
  async matters(): Promise<boolean> {
    return (await this.#facts.asks(this.#plan.graph.order)) || (await this.#hasAsked(this.#run));
  }

  async #hasAsked({ interrupts, children }: Run): Promise<boolean> {
    if (Object.keys(interrupts).length > 0) return true;
    for (const [runId, { waits }] of Object.entries(children)) {
      if (!waits) continue;
      const child = await this.#below(runId);
      if (child === undefined || (await this.#hasAsked(child))) return true;
      await this.#pause();
    }
    return false;
  }

  /** A child run; undefined where it was deleted or is too large to be read. */
  async #below(runId: string): Promise<Run | undefined> {
    const child = await this.#host.store.readRun({ tenant: this.#run.owner.tenant }, runId);
    return child?.stateOmitted === undefined ? child : undefined;
  }

  /** The events after a point until the first one from outside; undefined where there are too many. */
  async #computedFrom(
    then: Run,
    known: readonly RunEvent[],
    readOn: SourceLog["readOn"],
  ): Promise<readonly RunEvent[] | undefined> {
    const isPure = (nodeId: string) => {
      const node = this.#plan.graph.node.get(nodeId);
      return node !== undefined && typeOf(this.#host.nodeTypes, node)?.kind === "pure";
    };
    const isEnd = (event: RunEvent) => isFromOutside(then, event, isPure);
    const ofKnown = known.slice(0, TOGETHER_MAX + 1);
    const first = ofKnown.findIndex(isEnd);
    if (first >= 0) return ofKnown.slice(0, first);
    const { events, isCut } = await readOn(TOGETHER_MAX + 1 - ofKnown.length);
    const all = [...ofKnown, ...events];
    const end = all.findIndex(isEnd);
    if (end >= 0) return all.slice(0, end);
    return isCut || all.length > TOGETHER_MAX ? undefined : all;
  }

  /** Decisions from before a point whose nodes begin after it; undefined where finding them takes too much work. */
  async decided(
    then: Run,
    history: readonly RunEvent[],
    sequence: number,
    readOn: SourceLog["readOn"],
  ): Promise<BranchPoint["decided"] | undefined> {
    const following = await this.#computedFrom(then, history.slice(sequence), readOn);
    if (following === undefined) return undefined;
    const { starts, skips, eager } = decidedBefore(this.#plan, then, following);
    if (eager.length === 0) return { starts, skips };
    const steps = firedBefore(this.#plan, history.slice(0, sequence), eager);
    let next = steps.next();
    for (; !next.done; next = steps.next()) await this.#pause();
    return next.value === undefined ? undefined : { starts: [...starts, ...next.value], skips };
  }

  async sequence(
    overlay: RunOptionsOverlay,
    history: readonly RunEvent[],
    sourceMode: ForkMode | undefined,
  ): Promise<number | undefined> {
    if (sourceMode === "replay" || changedOptions(this.#run, overlay).length > 0) return BEGINNING;
    const acting = await this.#facts.acting(this.#plan);
    if (sourceMode === "branch" && (acting.length > 0 || history.some(asksAgain))) return BEGINNING;
    const begins = beginnings(this.#plan, history, acting);
    const found = [await this.#firstVoid(begins), lettingGo(history)].filter((one) => one !== undefined);
    let sequence = found.length === 0 ? undefined : Math.min(...found);
    let at: Run = this.#run;
    for (let step = 0; ; step++) {
      const before = await this.#firstUnderWay(at, begins, sequence ?? history.length);
      if (before !== undefined) sequence = Math.min(sequence ?? before, before);
      if (sequence === undefined) return undefined;
      if (step === STEPS_MAX) return BEGINNING;
      at = stateBefore(history, sequence);
      // An option may equal the latest value and still differ from the value at this point.
      if (changedOptions(at, overlay).length > 0) return BEGINNING;
      if (before === undefined && step > 0) return sequence;
      await this.#pause();
    }
  }

  /** The sequence at which the first node began whose decision does not hold, or that of a gate in a child run. */
  async #firstVoid(begins: Beginnings): Promise<number | undefined> {
    const found: number[] = [];
    for (const one of Object.values(this.#run.interrupts)) {
      const { sequence, actsLater } = begins.of(one.interruptId);
      if (await this.#isVoid(this.#plan, one, actsLater)) found.push(sequence);
      await this.#pause();
    }
    for (const [runId, { nodeId, waits }] of Object.entries(this.#run.children)) {
      if (!waits) continue;
      const { sequence, actsLater } = begins.of(runId);
      const acts = actsLater || (await this.#facts.actsAfter(this.#plan, nodeId));
      if (await this.#isVoidBelow(runId, acts)) found.push(sequence);
      await this.#pause();
    }
    return least(found);
  }

  /**
   * The sequence at which the first node began that is under way and may not begin again from the present state: a node that has written to
   * the state would write over its own writes, and in a sub-workflow with gates a variable written since could lead past the gates.
   */
  async #firstUnderWay(run: Run, begins: Beginnings, version: number): Promise<number | undefined> {
    const found: number[] = [];
    for (const id of underWay(run)) {
      const { sequence, actsLater, wroteAt = version } = begins.ofNode(id, version);
      if (wroteAt < version) {
        found.push(sequence);
        continue;
      }
      const node = this.#plan.graph.node.get(id);
      if (node?.typeId !== SUB_WORKFLOW && node?.typeId !== DISPATCH) continue;
      if (!(await this.#facts.asks([node]))) continue;
      if (actsLater || (await this.#facts.acts(node)) || (await this.#facts.actsAfter(this.#plan, id))) {
        found.push(sequence);
      }
    }
    return least(found);
  }

  async #isVoid(plan: Plan, interrupt: Interrupt, actsAbove: boolean): Promise<boolean> {
    if (interrupt.kind === "external-event" || interrupt.status === "open") return false;
    if (await this.#isSelfApproved(interrupt)) return true;
    if (mayHold(plan, interrupt)) return false;
    return actsAbove || this.#facts.actsAfter(plan, interrupt.nodeId);
  }

  /**
   * Whether a decision in a child run does not hold, or was not asked for although it would be now. A child that was deleted, or is too
   * large to be read, may have had one.
   */
  async #isVoidBelow(runId: string, actsAbove: boolean): Promise<boolean> {
    const child = await this.#below(runId);
    if (child === undefined) return true;
    if (actsAbove && (await this.#facts.asksAnew(child))) return true;
    const plan = await this.#host.plans.byHash(child.workflowHash);
    for (const one of Object.values(child.interrupts)) if (await this.#isVoid(plan, one, actsAbove)) return true;
    for (const [belowId, { waits, nodeId }] of Object.entries(child.children)) {
      const acts = actsAbove || (await this.#facts.actsAfter(plan, nodeId));
      if (waits && (await this.#isVoidBelow(belowId, acts))) return true;
    }
    return false;
  }

  /** Whether a starter of the branch approved at a gate that forbids it. */
  async #isSelfApproved({ data, votes }: Interrupt): Promise<boolean> {
    const rules = gateRules(data);
    const starters = startersOf(this.#run);
    const approvals = votes.filter(isApproval);
    if (approvals.some((vote) => isSelfApproval(rules, vote, starters))) return true;
    if (!excludesMakersOfStarters(rules)) return false;
    const makers = await makersOfPrincipals(this.#host.store, this.#run.owner.tenant, starters);
    return approvals.some(({ principal }) => makers.includes(principal));
  }

  /** Interrupts whose decisions hold if the gates of the branch show the same. */
  async holding(): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (const one of Object.values(this.#run.interrupts)) {
      const isDecided = one.status === "resolved" || one.status === "expired";
      if (isDecided && mayHold(this.#plan, one) && !(await this.#isSelfApproved(one))) found.add(one.interruptId);
    }
    return found;
  }

  /** Nodes that asked, or had a child run, since the point that the branch goes back to. */
  async reopened({ voids, nodeIds }: GoingBack): Promise<string[]> {
    const isVoid = new Set(voids);
    const decided = Object.values(this.#run.interrupts).filter(
      ({ interruptId, status }) => status !== "open" && isVoid.has(interruptId),
    );
    const touched = new Set(nodeIds);
    const children = Object.values(this.#run.children).filter(({ nodeId, waits }) => waits && touched.has(nodeId));
    const ids = new Set([...decided, ...children].map(({ nodeId }) => nodeId));
    const found: string[] = [];
    for (const node of this.#plan.graph.order) {
      if (ids.has(node.id) && (await this.#facts.asks([node]))) found.push(node.id);
    }
    return found;
  }
}

function least(sequences: readonly number[]): number | undefined {
  return sequences.length === 0 ? undefined : sequences.reduce((a, b) => Math.min(a, b));
}

function mayHold({ graph }: Plan, { nodeId, kind }: Interrupt): boolean {
  // A supervisor whose answer is kept would not ask its agent about the new values.
  return (
    kind !== "external-event" &&
    kind !== "low-confidence" &&
    graph.node.get(nodeId)?.config["approvalHoldsForBranches"] === true
  );
}
