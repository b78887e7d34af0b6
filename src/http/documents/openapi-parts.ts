import type { JsonSchema } from "./named-schemas.ts";

/** Tags in the order a reader meets them. */
export const TAGS: Readonly<Record<string, string>> = {
  discovery: "Documents about the host, readable without a key.",
  workflows: "Definitions that runs are started from.",
  runs: "Starting, reading and stopping runs.",
  interrupts: "Interrupts that runs wait for, the inbox of people who decide them, and statistics of gates.",
  events: "Following runs and the inbox; docs/asyncapi.json describes the frames.",
  annotations: "Judgments on runs.",
  tapes: "Runs that were recorded elsewhere, and judgments of runs as files.",
  reviews: "Peer reviews between agents, by the Agent Feedback Protocol.",
  agents: "The agents that are installed here.",
  deployments: "Which version of an agent serves, and the conditions of changing it.",
  evals: "Suites that agents are evaluated with, results of evaluations, and the baselines they are compared with.",
  artifacts: "Files that runs made.",
  audit: "The tenant's audit chain.",
  keys: "API keys of the tenant.",
  webhooks: "Events posted to a URL, signed.",
  operations: "For operators of the host.",
};

/** Request headers with a meaning of their own. */
export const PARAMETERS: Readonly<Record<string, JsonSchema>> = {
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description: "Repeating a request with its key gives the first answer again, byte for byte.",
    schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x21-\\x7e]+$" },
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description: "An ETag received before; 304 when nothing has changed since.",
    schema: { type: "string" },
  },
  LastEventId: {
    name: "Last-Event-ID",
    in: "header",
    description: "The sequence of the last event received; the stream goes on after it.",
    schema: { type: "integer", minimum: 0 },
  },
  ProtocolVersion: {
    name: "OpenWOP-Version",
    in: "header",
    description: "The version of the protocol asked for. Only its major selects; one that is not served is refused.",
    schema: { type: "string", pattern: "^(0|[1-9][0-9]*)(\\.(0|[1-9][0-9]*))?$" },
  },
  Dedup: {
    name: "X-Dedup",
    in: "header",
    description: "At most one active run per workflow and scopeId; another is refused with run_already_active.",
    schema: { type: "string", const: "enforce" },
  },
};

/** Response headers with a meaning of their own. */
export const HEADERS: Readonly<Record<string, JsonSchema>> = {
  ETag: { description: "A strong validator of this answer.", required: true, schema: { type: "string" } },
  IdempotentReplay: {
    description: "Present when this is the recorded answer to an earlier request with the same key.",
    schema: { type: "string", const: "true" },
  },
  EventReplayed: {
    description: "Present when this is the response that the same event received before.",
    schema: { type: "string", const: "true" },
  },
  ReviewSession: {
    description: "The session to name in the next request.",
    required: true,
    schema: { type: "string" },
  },
  RetryAfter: { description: "Seconds to wait before asking again.", schema: { type: "integer", minimum: 1 } },
};
