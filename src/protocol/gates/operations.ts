import type { ErrorCode } from "../errors.ts";
import { type Operation, PROTECTED } from "../operation.ts";
import {
  InterruptView,
  ResolveInterruptBody,
  ResolveInterruptRequest,
  ResolveInterruptResponse,
  VoteBinding,
} from "./api.ts";

const ANSWERED: readonly ErrorCode[] = [
  "validation_error",
  "payload_too_large",
  "unsupported_media_type",
  "INVALID_RESUME_VALUE",
  "eval_gate_unmet",
  "interrupt_not_found",
  "interrupt_already_resolved",
  "interrupt_gone",
  "correlation_mismatch",
  "vote_not_bound",
  "run_version_conflict",
];

const BY_TOKEN: readonly ErrorCode[] = [
  "validation_error",
  "forbidden",
  "auth_elevation_required",
  "interrupt_not_found",
  "interrupt_already_resolved",
  "interrupt_expired",
  "interrupt_gone",
  "unavailable",
];

/** Answers to interrupts. */
export const GATE_OPERATIONS = {
  resolveInterrupt: {
    method: "POST",
    path: "/v1/runs/{runId}/interrupts/{nodeId}",
    tag: "interrupts",
    summary: "Answer what a node waits for: vote at a gate, answer questions, hand over an event.",
    access: "approvals:respond",
    query: VoteBinding,
    body: ResolveInterruptRequest,
    bodyAsRead: ResolveInterruptBody,
    idempotent: "one",
    success: { status: 200, schema: ResolveInterruptResponse },
    errors: [
      ...PROTECTED,
      ...ANSWERED,
      "not_found",
      "idempotency_in_flight",
      "idempotency_key_mismatch",
      "engine_version_mismatch",
      "vote_conflict",
      "interrupt_cancelled",
    ],
  },
  readInterrupt: {
    method: "GET",
    path: "/v1/host/assay/interrupts/{interruptId}",
    tag: "interrupts",
    summary: "What an interrupt shows while it is open, with the revision and digest that a vote on it sends.",
    access: "approvals:respond",
    alsoNeeds: "runs:read",
    success: { status: 200, schema: InterruptView },
    errors: [
      ...PROTECTED,
      "not_found",
      "interrupt_already_resolved",
      "interrupt_cancelled",
      "interrupt_gone",
      "engine_version_mismatch",
    ],
  },
  getInterruptByToken: {
    method: "GET",
    path: "/v1/interrupts/{token}",
    tag: "interrupts",
    summary: "The interrupt of a token. The token is the credential.",
    access: "public",
    success: { status: 200, schema: InterruptView },
    errors: [...BY_TOKEN],
  },
  resolveInterruptByToken: {
    method: "POST",
    path: "/v1/interrupts/{token}",
    tag: "interrupts",
    summary: "Answer the one interrupt that a token is for. The token is the credential.",
    access: "public",
    query: VoteBinding,
    body: ResolveInterruptRequest,
    bodyAsRead: ResolveInterruptBody,
    success: { status: 200, schema: ResolveInterruptResponse },
    errors: [...new Set([...BY_TOKEN, ...ANSWERED]), "idempotency_in_flight", "idempotency_key_mismatch"],
  },
} as const satisfies Record<string, Operation>;
