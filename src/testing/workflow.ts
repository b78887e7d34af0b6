import { parse } from "../protocol/schema.ts";
import { WorkflowDefinition, type WorkflowEdge, type WorkflowNode } from "../protocol/workflows/workflow.ts";

/** `"core.noop"`, or a node with what differs from the plain one. */
type NodeSpec = string | (Partial<WorkflowNode> & { typeId: string });
type EdgeSpec = string | (Partial<WorkflowEdge> & { from: string; to: string });

export interface WorkflowSpec extends Partial<Omit<WorkflowDefinition, "nodes" | "edges">> {
  readonly nodes: Readonly<Record<string, NodeSpec>>;
  /** `"a>b"`, or `{ from, to, … }`. */
  readonly edges?: readonly EdgeSpec[];
}

/** A valid definition from the little that a test wants to say. Parsed, so that a stale spec fails loudly. */
export function workflow({ nodes, edges = [], ...rest }: WorkflowSpec): WorkflowDefinition {
  return parse(
    WorkflowDefinition,
    {
      id: "test-workflow",
      name: "Test workflow",
      version: "1",
      nodes: Object.entries(nodes).map(([id, spec], i) => ({
        id,
        name: id,
        position: { x: i * 100, y: 0 },
        config: {},
        inputs: {},
        ...(typeof spec === "string" ? { typeId: spec } : spec),
      })),
      edges: edges.map((spec, i) => {
        const { from, to, ...edge } = typeof spec === "string" ? ends(spec) : spec;
        return { id: `e${i}`, sourceNodeId: from, targetNodeId: to, ...edge };
      }),
      triggers: [{ id: "manual", type: "manual", enabled: true }],
      variables: [],
      metadata: {},
      settings: {},
      ...rest,
    },
    "workflow",
  );
}

function ends(spec: string): { from: string; to: string } {
  const [from = "", to = ""] = spec.split(">");
  return { from, to };
}
