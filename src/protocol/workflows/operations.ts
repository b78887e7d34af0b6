import { BODY, KEYED, type Operation, PROTECTED } from "../operation.ts";
import { Cursor, closed, Limit, Type } from "../schema.ts";
import { ListWorkflowsResponse, RegisterWorkflowResponse } from "./api.ts";
import { WorkflowDefinition } from "./workflow.ts";

/** Definitions of workflows. */
export const WORKFLOW_OPERATIONS = {
  listWorkflows: {
    method: "GET",
    path: "/v1/workflows",
    tag: "workflows",
    summary: "The workflows this key can start.",
    access: "manifest:read",
    query: Type.Object({ limit: Limit, cursor: Cursor }, closed),
    success: { status: 200, schema: ListWorkflowsResponse },
    errors: [...PROTECTED, "validation_error"],
  },
  registerWorkflow: {
    method: "POST",
    path: "/v1/workflows",
    tag: "workflows",
    summary: "Register a definition for the caller's tenant. The newest definition of an id is the one that starts.",
    access: "workflows:write",
    body: WorkflowDefinition,
    idempotent: "one",
    success: { status: 201, schema: RegisterWorkflowResponse },
    errors: [...PROTECTED, ...KEYED, ...BODY, "capability_required"],
  },
  getWorkflow: {
    method: "GET",
    path: "/v1/workflows/{workflowId}",
    tag: "workflows",
    summary: "A definition, exactly as it was registered.",
    access: "manifest:read",
    success: { status: 200, schema: WorkflowDefinition },
    errors: [...PROTECTED, "not_found"],
  },
} as const satisfies Record<string, Operation>;
