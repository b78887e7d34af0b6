import * as agent from "../../protocol/agents/api.ts";
import { AuditAnomaly, AuditCheckpoint, AuditEntry, AuditVerifyResult } from "../../protocol/audit/audit.ts";
import { Discovery } from "../../protocol/discovery.ts";
import { EvalSummary } from "../../protocol/evals/api.ts";
import { EvalBaseline, EvalEntry } from "../../protocol/evals/baselines.ts";
import { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import * as suite from "../../protocol/evals/suite-api.ts";
import { RunError, RunEventDoc } from "../../protocol/events.ts";
import * as event from "../../protocol/gates/api.ts";
import * as inbox from "../../protocol/gates/inbox-api.ts";
import * as identity from "../../protocol/identity/api.ts";
import { Owner } from "../../protocol/identity/identity.ts";
import { Annotation, AnnotationList, CreateAnnotation, Signal } from "../../protocol/judgments/annotation.ts";
import * as annotation from "../../protocol/judgments/annotation-api.ts";
import * as deployment from "../../protocol/promotion/api.ts";
import * as policy from "../../protocol/promotion/api.ts";
import { SchemaIndex } from "../../protocol/published-schemas.ts";
import { AgreementFigures, QueueAgreement } from "../../protocol/queues/agreement-api.ts";
import * as queue from "../../protocol/queues/api.ts";
import { AfpMessage, AfpRequest, AfpResponse } from "../../protocol/reviews/afp.ts";
import * as api from "../../protocol/runs/api.ts";
import * as fork from "../../protocol/runs/fork-api.ts";
import { RunStatusSchema } from "../../protocol/runs/run-status.ts";
import { RunSnapshot } from "../../protocol/runs/snapshot.ts";
import type { TSchema } from "../../protocol/schema.ts";
import * as tape from "../../protocol/tapes/api.ts";
import * as webhook from "../../protocol/webhooks/api.ts";
import * as definition from "../../protocol/workflows/workflow.ts";
import * as workflow from "../../protocol/workflows/workflow.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Schemas inside others: each occurrence of their text is replaced by a reference. */
const PARTS = {
  RunStatus: RunStatusSchema,
  RunError,
  Owner,
  Configurable: api.Configurable,
  RunSnapshot,
  RunEventDoc,
  ErrorEnvelope: api.ErrorEnvelope,
  KeyInfo: identity.KeyInfo,
  AuditEntry,
  AuditCheckpoint,
  AuditAnomaly,
  WebhookInfo: webhook.WebhookInfo,
  DeliveryInfo: webhook.DeliveryInfo,
  InboxItem: inbox.InboxItem,
  QueueQuery: queue.QueueQuery,
  QueueInfo: queue.QueueInfo,
  QueueItemView: queue.QueueItemView,
  AgreementFigures,
  FlaggedItem: inbox.FlaggedItem,
  Signal,
  Annotation,
  AnnotationView: annotation.AnnotationView,
  AfpResponse,
  RunOptionsOverlay: fork.RunOptionsOverlay,
  EventDiff: fork.EventDiff,
  TapeInfo: tape.TapeInfo,
  SuiteInfo: suite.SuiteInfo,
  EvalEntry,
  EvalBaseline,
  AgentDeployment: deployment.AgentDeployment,
  PromotionPolicy: policy.PromotionPolicy,
  PolicyRule: policy.PolicyRule,
  AgentEntry: agent.AgentEntry,
  PortValue: workflow.PortValue,
  WorkflowNode: workflow.WorkflowNode,
  WorkflowEdge: workflow.WorkflowEdge,
} as const satisfies Record<string, TSchema>;

/** Whole bodies. Two may have the same text, so these are found by identity. */
const BODIES = {
  CreateRunRequest: api.CreateRunRequest,
  CreateRunResponse: api.CreateRunResponse,
  ForkRunRequest: fork.ForkRunRequest,
  ForkRunFurtherRequest: fork.ForkRunFurtherRequest,
  ForkRunResponse: fork.ForkRunResponse,
  RunDiffResponse: fork.RunDiffResponse,
  ListRunsResponse: api.ListRunsResponse,
  CancelRunRequest: api.CancelRunRequest,
  CancelRunResponse: api.CancelRunResponse,
  BulkCancelRequest: api.BulkCancelRequest,
  BulkCancelResponse: api.BulkCancelResponse,
  PauseRunRequest: api.PauseRunRequest,
  PauseRunResponse: api.PauseRunResponse,
  ResumeRunRequest: api.ResumeRunRequest,
  ResumeRunResponse: api.ResumeRunResponse,
  PollResponse: api.PollResponse,
  EventListResponse: api.EventListResponse,
  WorkflowDefinition: workflow.WorkflowDefinition,
  RegisterWorkflowResponse: definition.RegisterWorkflowResponse,
  ListWorkflowsResponse: definition.ListWorkflowsResponse,
  CreateKeyRequest: identity.CreateKeyRequest,
  CreateKeyResponse: identity.CreateKeyResponse,
  ListKeysResponse: identity.ListKeysResponse,
  WhoAmIResponse: identity.WhoAmIResponse,
  AuditVerifyResult,
  DeploymentTransition: deployment.DeploymentTransition,
  PromotionRules: policy.PromotionRules,
  PromotionPolicies: policy.PromotionPolicies,
  SendExternalEventRequest: event.SendExternalEventRequest,
  ExternalEventDelivered: event.ExternalEventDelivered,
  ExternalEventHeld: event.ExternalEventHeld,
  RegisterWebhookRequest: webhook.RegisterWebhookRequest,
  RegisterWebhookResponse: webhook.RegisterWebhookResponse,
  ListWebhooksResponse: webhook.ListWebhooksResponse,
  ListDeliveriesResponse: webhook.ListDeliveriesResponse,
  RedeliverRequest: webhook.RedeliverRequest,
  RedeliverResponse: webhook.RedeliverResponse,
  TestWebhookResponse: webhook.TestWebhookResponse,
  CreateAnnotation,
  AnnotationList,
  AnnotateRequest: annotation.AnnotateRequest,
  AnnotationPage: annotation.AnnotationPage,
  RetractRequest: annotation.RetractRequest,
  CloseFlagRequest: annotation.CloseFlagRequest,
  InboxResponse: inbox.InboxResponse,
  DecideRequest: inbox.DecideRequest,
  DecideResponse: inbox.DecideResponse,
  GateSummaryResponse: inbox.GateSummaryResponse,
  CreateQueueRequest: queue.CreateQueueRequest,
  UpdateQueueRequest: queue.UpdateQueueRequest,
  QueueView: queue.QueueView,
  QueuePage: queue.QueuePage,
  QueueItemPage: queue.QueueItemPage,
  AddItemsRequest: queue.AddItemsRequest,
  AddItemsResponse: queue.AddItemsResponse,
  LeaseRequest: queue.LeaseRequest,
  NextItemResponse: queue.NextItemResponse,
  JudgeRequest: queue.JudgeRequest,
  AdjudicateRequest: queue.AdjudicateRequest,
  SkipRequest: queue.SkipRequest,
  RequeueRequest: queue.RequeueRequest,
  CloseItemRequest: queue.CloseItemRequest,
  QueueAgreement,
  ImportTapeRequest: tape.ImportTapeRequest,
  ImportTapeResponse: tape.ImportTapeResponse,
  TapeDetails: tape.TapeDetails,
  TapePage: tape.TapePage,
  StoreBodyRequest: tape.StoreBodyRequest,
  StoreBodyResponse: tape.StoreBodyResponse,
  AfpRequest,
  AfpMessage,
  SchemaIndex,
  EvalSummary,
  AgentEvalSuite,
  AgentInventory: agent.AgentInventory,
  AgentVersions: agent.AgentVersions,
  InstallPackResponse: agent.InstallPackResponse,
  PutSuiteResponse: suite.PutSuiteResponse,
  SuitePage: suite.SuitePage,
  Discovery,
} as const satisfies Record<string, TSchema>;

const NAMED: Readonly<Record<string, TSchema>> = { ...PARTS, ...BODIES };
const nameBySchema = new Map(Object.entries(NAMED).map(([name, schema]) => [schema, name]));
const nameByText = new Map(Object.entries(PARTS).map(([name, schema]) => [JSON.stringify(schema), name]));

/** The named schemas that a document refers to, directly or through others. */
export function referredSchemas(document: unknown): Record<string, JsonSchema> {
  const found = new Map<string, JsonSchema>();
  const visitReferences = (value: unknown) => {
    for (const [, name = ""] of JSON.stringify(value).matchAll(/#\/components\/schemas\/(\w+)/g)) {
      const schema = NAMED[name];
      if (schema === undefined) throw new Error(`there is no schema called ${name}`);
      if (found.has(name)) continue;
      const shown = inside(JSON.parse(JSON.stringify(schema)));
      found.set(name, shown);
      visitReferences(shown);
    }
  };
  visitReferences(document);
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A reference when the schema has a name, else its text with references inside. */
export function schemaOrReference(schema: TSchema): JsonSchema {
  const name = nameBySchema.get(schema);
  return name === undefined ? withReferences(JSON.parse(JSON.stringify(schema))) : reference(name);
}

export function reference(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

function withReferences(schema: JsonSchema): JsonSchema {
  const name = nameByText.get(JSON.stringify(schema));
  return name === undefined ? inside(schema) : reference(name);
}

function inside(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, visit(value)]));
}

function visit(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(visit);
  return typeof value === "object" && value !== null ? withReferences(value as JsonSchema) : value;
}
