import type { WorkflowEdge } from "../../protocol/workflow.ts";
import type { Graph } from "./graph.ts";
import type { Plan } from "./plan.ts";
import { isSureToRun } from "./sure-to-run.ts";

/** The nodes that run in every round in which no node fails: no condition is on the way to them. */
export function alwaysRun(plan: Plan): ReadonlySet<string> {
  const found = new Set<string>();
  for (const node of plan.graph.order) {
    if (isSureToRun(plan, node, found, () => false)) found.add(node.id);
  }
  return found;
}

/** The ways past the gates of a workflow, for all of them at once: looking for each by itself takes the square of their number. */
export class WaysPast {
  readonly #graph: Graph;
  readonly #always: ReadonlySet<string>;
  /** The nodes that lead to a node. */
  readonly #before: NodeSets;
  /** The nodes without which a node does not run in a round. */
  readonly #needed: NodeSets;

  constructor(plan: Plan) {
    this.#graph = plan.graph;
    this.#always = alwaysRun(plan);
    this.#before = new NodeSets(plan.graph);
    this.#needed = new NodeSets(plan.graph);
    for (const { id } of plan.graph.order) this.#add(id);
  }

  #add(id: string): void {
    for (const [rule, edges] of this.#graph.rulesInto.get(id) ?? []) {
      const sources = edges.map(({ sourceNodeId }) => sourceNodeId);
      for (const source of sources) this.#before.include(id, source);
      if (rule === "all_success") for (const source of sources) this.#needed.include(id, source);
      else if (rule === "any_success" || rule === "none_failed") this.#needed.includeCommon(id, sources);
    }
  }

  /** Whether edges lead forward from the gate to the node. */
  isAfter(gateId: string, nodeId: string): boolean {
    return this.#before.has(nodeId, gateId);
  }

  /** Whether a node does not run in a round before the other one has. */
  needs(nodeId: string, otherId: string): boolean {
    return this.#needed.has(nodeId, otherId);
  }

  /**
   * Whether a node may run in a round without a decision of the gate in that round, on account of a condition that an earlier
   * decision or a result may have met. A node that runs before the gate in any case never waited for it.
   *
   * @param gateRuns whether the gate is certain to run
   */
  leadTo(nodeId: string, gateId: string, gateRuns = this.#always.has(gateId)): boolean {
    if (nodeId === gateId) return false;
    if (!this.isAfter(gateId, nodeId)) return !this.#always.has(nodeId);
    return !this.#needed.has(nodeId, gateId) && !(gateRuns && this.#waitsFor(nodeId, gateId));
  }

  /** These rules wait for the gate, and do not fire where it is rejected. */
  #waitsFor(nodeId: string, gateId: string): boolean {
    const isFromGate = ({ sourceNodeId }: WorkflowEdge) => sourceNodeId === gateId;
    const groups = this.#graph.rulesInto.get(nodeId) ?? [];
    return groups.some(([rule, edges]) => (rule === "all_success" || rule === "none_failed") && edges.some(isFromGate));
  }
}

const BITS = 32;

/** A set of nodes for each node, one bit for each of them. */
class NodeSets {
  readonly #place: Graph["place"];
  readonly #words: number;
  readonly #bits: Uint32Array;

  constructor({ place }: Graph) {
    this.#place = place;
    this.#words = Math.ceil(place.size / BITS);
    this.#bits = new Uint32Array(place.size * this.#words);
  }

  has(of: string, member: string): boolean {
    const at = this.#at(member);
    const word = this.#bits[this.#at(of) * this.#words + (at >>> 5)] ?? 0;
    return (word & (1 << (at & 31))) !== 0;
  }

  /** Adds a node with its own set. */
  include(of: string, member: string): void {
    const row = this.#rowOf(of);
    for (const [i, word] of this.#withItself(member).entries()) row[i] = (row[i] ?? 0) | word;
  }

  /** Adds what all of these nodes have in common, each with its own set. */
  includeCommon(of: string, members: readonly string[]): void {
    const common = new Uint32Array(this.#words).fill(0xffffffff);
    for (const member of members) {
      for (const [i, word] of this.#withItself(member).entries()) common[i] = (common[i] ?? 0) & word;
    }
    const row = this.#rowOf(of);
    if (members.length > 0) for (const [i, word] of common.entries()) row[i] = (row[i] ?? 0) | word;
  }

  #withItself(member: string): Uint32Array {
    const row = this.#rowOf(member).slice();
    const at = this.#at(member);
    row[at >>> 5] = (row[at >>> 5] ?? 0) | (1 << (at & 31));
    return row;
  }

  #rowOf(id: string): Uint32Array {
    const from = this.#at(id) * this.#words;
    return this.#bits.subarray(from, from + this.#words);
  }

  #at(id: string): number {
    return this.#place.get(id) ?? 0;
  }
}
