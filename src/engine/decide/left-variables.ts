import type { RunEvent } from "../../protocol/events.ts";
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
  /** Where each node was begun or passed by. */
  readonly begun: ReadonlyMap<string, number>;
}

export function trailOf(events: readonly RunEvent[]): Trail {
  const written = new Map<string, Written>();
  const begun = new Map<string, number>();
  for (const event of events) {
    switch (event.type) {
      case "variable.changed":
        written.set(event.payload.name, { nodeId: event.payload.nodeId, sequence: event.sequence });
        break;
      case "node.started":
      case "node.skipped":
        if (!begun.has(event.payload.nodeId)) begun.set(event.payload.nodeId, event.sequence);
        break;
      case "assay.loop.entered": {
        const again = new Set(event.payload.nodeIds);
        for (const [name, { nodeId }] of written) if (again.has(nodeId)) written.delete(name);
        for (const nodeId of again) begun.delete(nodeId);
        break;
      }
      case "assay.branch.began":
        for (const nodeId of event.payload.nodeIds) begun.delete(nodeId);
        break;
    }
  }
  return { written, begun };
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
 * The variables with values from after the point that a branch goes back to, where the first node was begun that starts over: from such
 * nodes, which are as if never begun, and from nodes beside them.
 */
export class LeftVariables {
  readonly #plan: Plan;
  readonly #written: Trail["written"];
  readonly #names: ReadonlySet<string>;
  /** Those that decide which nodes of the branch run. */
  readonly #steering: ReadonlySet<string>;

  constructor(plan: Plan, { written, begun }: Trail, startsOver: (nodeId: string) => boolean) {
    this.#plan = plan;
    this.#written = written;
    const back = Math.min(...[...begun].filter(([id]) => startsOver(id)).map(([, sequence]) => sequence));
    const isLeft = ({ nodeId, sequence }: Written) => sequence > back || startsOver(nodeId);
    this.#names = new Set([...written].filter(([, one]) => isLeft(one)).map(([name]) => name));
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
    return variablesRead(read, this.#names);
  }

  /**
   * Whether one of them may lead past a node, or past the gates of a run that the node dispatches.
   *
   * @param given what the node dispatches a run with
   * @param isNew whether a writer runs before the node in any case, and writes anew
   */
  mayLeadPast(given: unknown, isNew: (writerId: string) => boolean): boolean {
    const names = [...this.#steering, ...variablesRead(given, this.#names)];
    return names.some((name) => !isNew(this.#written.get(name)?.nodeId ?? ""));
  }
}
