import { defined } from "../../protocol/defined.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { RegisterWorkflowResponse } from "../../protocol/workflows/workflow.ts";
import type { DocumentWrite } from "../../store/port/documents.ts";
import { HOST_WIDE, type WorkflowWrite } from "../../store/port/store.ts";
import { auditDraft, type Recorder, refused } from "../execute.ts";
import { pinGateSuites } from "../gates/gate-evidence.ts";
import type { Host } from "../host.ts";
import { checkAgents } from "./check-agents.ts";
import { checkWorkflow } from "./check-workflow.ts";
import { type ScrubbedDefinition, scrubDefinition } from "./scrub-definition.ts";

interface RegisterWorkflow {
  readonly caller: Caller;
  readonly definition: unknown;
  /** The author's own text, which GET returns. */
  readonly text: string;
  readonly record: Recorder<RegisterWorkflowResponse>;
}

/** Registers a workflow for the caller's tenant, where it replaces a host-wide definition of the same id. */
export async function registerWorkflow(host: Host, command: RegisterWorkflow): Promise<RegisterWorkflowResponse> {
  const { caller } = command;
  const given = await scrubDefinition(host.scrubber, command.definition);
  const { definition, hash } = checkWorkflow(host.nodeTypes, given.definition);
  await checkAgents(host.nodeTypes, caller, definition, "registered");
  const current = await host.store.readWorkflowHash(caller.tenant, definition.id);
  const { id: workflowId, version } = definition;
  const scrubbed = given.scrubbed === 0 ? undefined : given.scrubbed;
  const response = defined({ workflowId, version, hash, created: current !== hash, scrubbed });
  const outcome = command.record(response);
  const { tenant } = caller;
  const atMs = host.nowMs();
  const documents = await pinGateSuites(host, { tenant, definition, hash, atMs });
  const details = defined({ hash, scrubbed: scrubbed && String(scrubbed) });
  const committed = await host.store.commit({
    tenant,
    workflows: [{ tenant, workflowId, hash, definition: textOf(given, command.text), atMs }],
    ...(documents.length === 0 ? {} : { documents }),
    audit: [auditDraft(caller, atMs, workflowId, { action: "workflow.registered", details })],
    ...defined({ idempotency: outcome }),
  });
  if (!committed.ok) throw refused(committed.refusal);
  return response;
}

export interface HostWideWorkflow {
  readonly write: WorkflowWrite;
  /** The pins of its gates. */
  readonly documents: readonly DocumentWrite[];
}

/** A definition from `--workflows`, for all tenants. Errors do not name the file. */
export async function hostWideWorkflow(host: Host, raw: unknown, text: string): Promise<HostWideWorkflow> {
  const given = await scrubDefinition(host.scrubber, raw);
  const { definition, hash } = checkWorkflow(host.nodeTypes, given.definition);
  const atMs = host.nowMs();
  const documents = await pinGateSuites(host, { tenant: HOST_WIDE, definition, hash, atMs });
  const write = { tenant: HOST_WIDE, workflowId: definition.id, hash, definition: textOf(given, text), atMs };
  return { write, documents };
}

/** The author's own text, unless the scrubber removed something. */
function textOf({ definition, scrubbed }: ScrubbedDefinition, text: string): string {
  return scrubbed === 0 ? text : JSON.stringify(definition, null, 2);
}
