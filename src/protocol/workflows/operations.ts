import { operations } from "../operation.ts";
import { Cursor, closed, Limit, Type } from "../schema.ts";
import { ListWorkflowsResponse, RegisterWorkflowResponse, WorkflowDefinition } from "./workflow.ts";

const common = { tag: "workflows" } as const;

/** Definitions of workflows. */
export const WORKFLOW_OPERATIONS = operations(common, {
  listWorkflows: {
    method: "GET",
    path: "/v1/workflows",
    summary: "The workflows this key can start.",
    access: "manifest:read",
    query: Type.Object({ limit: Limit, cursor: Cursor }, closed),
    success: { status: 200, schema: ListWorkflowsResponse },
  },
  registerWorkflow: {
    method: "POST",
    path: "/v1/workflows",
    summary: "Register a definition for the caller's tenant. The newest definition of an id is the one that starts.",
    access: "workflows:write",
    body: WorkflowDefinition,
    idempotent: "one",
    success: { status: 201, schema: RegisterWorkflowResponse },
    errors: ["capability_required"],
  },
  getWorkflow: {
    method: "GET",
    path: "/v1/workflows/{workflowId}",
    summary: "A definition, exactly as it was registered.",
    access: "manifest:read",
    success: { status: 200, schema: WorkflowDefinition },
    errors: ["not_found"],
  },
});
