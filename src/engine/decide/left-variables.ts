import type { RunEvent } from "../../protocol/events.ts";
import type { Graph } from "./graph.ts";
import type { Plan } from "./plan.ts";

interface Written {
  readonly nodeId: string;
  readonly sequence: number;
}

/** What the log of a run says about the present round of its loops. */
export interface Trail {
  /**
   * The write that gave each variable its value. What an earlier round left belongs to the loop. An option of a branch does not take the
   * place of a write: it may repeat what was written.
   */
  readonly written: ReadonlyMap<string, Written>;
  /** The nodes that were begun or passed by. */
  readonly begun: ReadonlySet<string>;
  /** Where each node came to its end. */
  readonly ended: ReadonlyMap<string, number>;
  /** Where a loop or a branch had a node start over last. */
  readonly restarted: ReadonlyMap<string, number>;
}

export function trailOf(events: readonly RunEvent[]): Trail {
  const written = new Map<string, Written>();
  const begun = new Set<string>();
  const ended = new Map<string, number>();
  const restarted = new Map<string, number>();
  const restart = (nodeIds: readonly string[], sequence: number) => {
    for (const nodeId of nodeIds) {
      begun.delete(nodeId);
      ended.delete(nodeId);
      restarted.set(nodeId, sequence);
    }
  };
  for (const event of events) {
    const { sequence } = event;
    switch (event.type) {
      case "variable.changed":
        written.set(event.payload.name, { nodeId: event.payload.nodeId, sequence });
        break;
      case "node.started":
        begun.add(event.payload.nodeId);
        break;
      case "node.skipped":
        begun.add(event.payload.nodeId);
        ended.set(event.payload.nodeId, sequence);
        break;
      case "node.completed":
      case "node.failed":
      case "node.cancelled":
        ended.set(event.payload.nodeId, sequence);
        break;
      case "assay.loop.entered": {
        const again = new Set(event.payload.nodeIds);
        for (const [name, { nodeId }] of written) if (again.has(nodeId)) written.delete(name);
        restart(event.payload.nodeIds, sequence);
        break;
      }
      case "assay.branch.began":
        restart(event.payload.nodeIds, sequence);
        break;
    }
  }
  return { written, begun, ended, restarted };
}

/**
 * The sequence after which it was decided that a node runs or is passed by: where the nodes before it had ended. Undefined where that was
 * still open. Its own first event may come later than events of nodes that were begun with it, or not yet.
 */
function decidedAfter({ rulesInto }: Graph, { begun, ended, restarted }: Trail, nodeId: string): number | undefined {
  let after = restarted.get(nodeId) ?? -1;
  for (const [rule, edges] of rulesInto.get(nodeId) ?? []) {
    const ends = edges.flatMap(({ sourceNodeId }) => ended.get(sourceNodeId) ?? []).sort((a, b) => a - b);
    const isFirst = rule === "any_success" || rule === "any_failed";
    const isOpen = isFirst ? ends.length === 0 : ends.length < edges.length;
    if (isOpen && !begun.has(nodeId)) return undefined;
    after = Math.max(after, (isFirst ? ends[0] : ends.at(-1)) ?? -1);
  }
  return after;
}

/** Variables that expressions name; an expression that computes a name is left with the bare word. */
const NAMED = /\bvariables(?:\.(\w+)|\["([^"]+)"\])/g;
const COMPUTED = /\bvariables\b/;

/** The variables among these that a part of a definition may read. Each is found once: definitions of thousands of nodes may read all. */
export function variablesRead(value: unknown, names: ReadonlySet<string>, found = new Set<string>()): Set<string> {
  if (found.size === names.size) return found;
  if (typeof value === "string") addRead(value, names, found);
  else if (typeof value === "object" && value !== null) {
    for (const one of Object.values(value)) variablesRead(one, names, found);
  }
  return found;
}

function addRead(text: string, names: ReadonlySet<string>, found: Set<string>): void {
  const isComputed = COMPUTED.test(text.replaceAll(NAMED, ""));
  const named = [...text.matchAll(NAMED)].map(([, word, quoted]) => word ?? quoted ?? "");
  const read = isComputed ? names : [text, text.slice(0, Math.max(0, text.indexOf("."))), ...named];
  for (const name of read) if (names.has(name)) found.add(name);
}

/**
 * The variables with values from after the point that a branch goes back to, where it was decided that the first node runs which starts over: from such
 * nodes, which are as if never begun, and from nodes beside them.
 */
export class LeftVariables {
  readonly #plan: Plan;
  readonly #written: Trail["written"];
  readonly #names: ReadonlySet<string>;
  /** The writers of those that decide which nodes of the branch run: a node may write thousands. */
  readonly #steering: ReadonlySet<string>;

  constructor(plan: Plan, trail: Trail, startsOver: (nodeId: string) => boolean) {
    this.#plan = plan;
    this.#written = trail.written;
    const back = plan.graph.order
      .filter(({ id }) => startsOver(id))
      .map(({ id }) => decidedAfter(plan.graph, trail, id) ?? Number.POSITIVE_INFINITY)
      .reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY);
    const isLeft = ({ nodeId, sequence }: Written) => sequence > back || startsOver(nodeId);
    this.#names = new Set([...trail.written].filter(([, one]) => isLeft(one)).map(([name]) => name));
    this.#steering = this.isEmpty ? new Set() : this.#findSteering(startsOver);
  }

  get isEmpty(): boolean {
    return this.#names.size === 0;
  }

  /** Conditions of edges to nodes that start over read them, or nodes that start over before such a condition do. */
  #findSteering(startsOver: (nodeId: string) => boolean): ReadonlySet<string> {
    const { graph, definition } = this.#plan;
    const edges = definition.edges.filter(
      ({ condition, targetNodeId }) => condition !== undefined && startsOver(targetNodeId),
    );
    const before = new Set(edges.map(({ sourceNodeId }) => sourceNodeId));
    for (const id of before) for (const edge of graph.forwardInto.get(id) ?? []) before.add(edge.sourceNodeId);
    const reading = graph.order.filter(({ id }) => before.has(id) && startsOver(id));
    const read = [edges.map(({ condition }) => condition), reading.map(({ config, inputs }) => [config, inputs])];
    return this.#writersOf(read);
  }

  #writersOf(read: unknown): ReadonlySet<string> {
    return new Set([...variablesRead(read, this.#names)].flatMap((name) => this.#written.get(name)?.nodeId ?? []));
  }

  /**
   * Whether one of them may decide which nodes run.
   *
   * @param isNew whether a writer runs before the node in question in any case, and writes anew
   */
  steer(isNew: (writerId: string) => boolean): boolean {
    return isAnyOld(this.#steering, isNew);
  }

  /** Whether one of them is among what a node dispatches a run with. */
  areGiven(read: unknown, isNew: (writerId: string) => boolean): boolean {
    return isAnyOld(this.#writersOf(read), isNew);
  }
}

function isAnyOld(writers: ReadonlySet<string>, isNew: (writerId: string) => boolean): boolean {
  for (const writerId of writers) if (!isNew(writerId)) return true;
  return false;
}
