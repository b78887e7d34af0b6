import { type ErrorRow, HOST_ERRORS } from "./host-errors.ts";

/**
 * Every error the product throws on purpose. A code is wire format: add freely, never rename.
 * `docs/errors.md` lists the same codes; a test compares the two, both ways.
 *
 * `retry` marks the codes after which the same request may succeed later: those are never replayed by an
 * idempotency key, and the SDK may repeat them by itself.
 */
export const ERRORS = {
  validation_error: { status: 400, message: "The request is not valid: {problem}." },
  unsupported_stream_mode: {
    status: 400,
    message: "Stream mode {mode} is not served. Use one of values, updates, messages, debug; values stands alone.",
  },
  unsupported_mock_provider: { status: 400, message: "Mock provider {provider} is not one this host offers." },
  unsupported_force_engine_version: { status: 400, message: "Engine version {version} cannot be forced here." },
  no_active_deployment: {
    status: 400,
    message: "Nothing is deployed for a node: {problem}. Deploy a version, or name one.",
  },
  unversioned_path: {
    status: 400,
    message: "{path} is not versioned. Protocol routes start with /v1/; discovery is /.well-known/openwop.",
  },
  provider_usage_credential_leak: {
    status: 400,
    message:
      "The usage holds a credential at {path}. Leave it out: usage is tokens, models and costs. Nothing was written.",
  },
  protocol_version_mismatch: {
    status: 400,
    message:
      "Paths under /v1/ are served in major version 1 of the protocol, and OpenWOP-Version asks for {version}. " +
      "Leave the header out, or send one of {protocolVersions}.",
  },
  schema_too_large: {
    status: 400,
    message: "The schema cannot be used: {where} is too large, {problem}. Make it smaller. Nothing was stored.",
  },
  INVALID_RESUME_VALUE: { status: 400, message: "The gate cannot take this answer: {problem}. The run still waits." },
  webhook_url_rejected: { status: 400, message: "No delivery may go to this URL: {problem}." },
  judgment_format_unsupported: {
    status: 400,
    message:
      "Line {line} does not begin an export of judgments that can be read here: {problem}. Nothing was imported.",
  },
  judgment_file_incomplete: {
    status: 400,
    message: "The export of judgments is not whole: {problem}. Nothing was imported; export them again.",
  },
  pack_peer_dependency_missing: {
    status: 400,
    message: "Pack {pack} cannot work here: it needs {missing}, which this host does not serve.",
  },
  channel_access_denied: { status: 400, message: "Node {nodeId} may not {action} channel {channel}." },
  unauthenticated: {
    status: 401,
    message: "Send a known API key as `Authorization: Bearer <key>`. Owners make keys with POST /v1/host/assay/keys.",
  },
  key_expired: {
    status: 401,
    message: "This API key expired at {expiredAt}. A new one is made with POST /v1/host/assay/keys.",
  },
  key_revoked: { status: 401, message: "This API key was revoked at {revokedAt}. Use another one." },
  forbidden: {
    status: 403,
    message: "This needs scope {scopeRequired}, which {missingFrom} does not grant.",
    problem: "{problem}.",
  },
  auth_elevation_required: {
    status: 403,
    message: "This interrupt is resolved with an API key only: POST /v1/runs/{runId}/interrupts/{nodeId}.",
  },
  eval_gate_unmet: { status: 403, message: "The gate asks for evidence that is missing: {problem}. It stays closed." },
  pack_not_trusted: { status: 403, message: "The pack is not installed: {problem}." },
  tenant_mismatch: { status: 403, message: "tenantId must be the tenant of the API key, or left out." },
  run_forbidden: { status: 403, message: "This key may not read run {runId}." },
  mock_provider_forbidden: { status: 403, message: "configurable.mockProvider is for test keys; this key is not one." },
  force_engine_version_forbidden: {
    status: 403,
    message: "X-Force-Engine-Version is for test keys; this key is not one.",
  },
  not_found: { status: 404, message: "There is no {what} here that this key can see." },
  interrupt_not_found: {
    status: 404,
    message: "No open interrupt answers to this. GET /v1/host/assay/inbox lists those that wait.",
    problem: "No open interrupt answers to this: {problem}.",
  },
  subscription_not_found: { status: 404, message: "Webhook {webhookId} not found, or not visible to this key." },
  method_not_allowed: { status: 405, message: "{method} is not served at {path}. Use {allowed}." },
  protocol_version_unsupported: {
    status: 406,
    message:
      "This host does not serve version {version} of the protocol. Send OpenWOP-Version with one of {protocolVersions}.",
  },
  request_timeout: {
    status: 408,
    message: "The request took too long to arrive. Send it again in one go.",
    retry: true,
  },
  run_already_active: {
    status: 409,
    message: "Run {activeRunId} is active for this workflow and scopeId. Wait for it, or cancel it.",
    retryAfterSeconds: 1,
    retry: true,
  },
  idempotency_in_flight: {
    status: 409,
    message: "The first request with this Idempotency-Key is still running. Ask again shortly.",
    retryAfterSeconds: 1,
    retry: true,
  },
  idempotency_key_mismatch: {
    status: 409,
    message: "This Idempotency-Key was used with another body. Use a new key for a new request.",
  },
  interrupt_already_resolved: {
    status: 409,
    message: "This interrupt was resolved before; nothing was changed by this answer.",
  },
  vote_conflict: {
    status: 409,
    message: "{voter} has voted {earlier} at this gate, and a vote here stands. Nothing was changed.",
  },
  vote_not_bound: {
    status: 409,
    message:
      "The vote is not for what the gate shows now: {problem}. Read the gate again and send its interruptId, revision and artifactDigest.",
  },
  run_terminal: { status: 409, message: "Run {runId} is {runStatus} and cannot change any more." },
  run_state_conflict: { status: 409, message: "Run {runId} is {runStatus}; {problem}." },
  annotation_conflict: {
    status: 409,
    message: "Annotation {annotationId} cannot be changed like this: {problem}. Read it again and decide anew.",
  },
  queue_conflict: {
    status: 409,
    retry: true,
    message: "{id} of the review queue changed in the same moment. Nothing was written; send the request again.",
  },
  queue_changed: {
    status: 409,
    message: "Queue {queueId} is at revision {revision} by now. Read it again, and send the change with that revision.",
  },
  queue_exists: { status: 409, message: "A review queue here is called {name} already. Use another name." },
  queue_closed: {
    status: 409,
    message: "Queue {queueId} is closed. Its owner can open it again; nothing was written.",
  },
  queue_slot_taken: {
    status: 409,
    message: "Item {itemId} has all the reviewers it needs by now. Nothing was written; ask for another item.",
  },
  queue_already_judged: {
    status: 409,
    message: "You have judged item {itemId}. To replace your judgment, send the judgment with `revise: true`.",
    problem: "You have judged item {itemId}, and it stands: {problem}.",
  },
  queue_item_state: { status: 409, message: "Item {itemId} is {state}: {problem}." },
  tape_conflict: {
    status: 409,
    retry: true,
    message: "What is kept of the tape of run {runId} changed in the same moment. Nothing was written; send it again.",
  },
  document_conflict: {
    status: 409,
    retry: true,
    message: "The {what} {key} changed in the same moment. Nothing was written; send the request again.",
  },
  pack_conflict: {
    status: 409,
    message: "{pack} is installed with other content, and what is installed does not change. Raise its version.",
  },
  judge_not_certified: { status: 409, message: "The judge is not certified: {problem} Nothing was started." },
  suite_conflict: {
    status: 409,
    message:
      "Suite {suite} is here with other content, and what evidence refers to does not change. Raise its version.",
  },
  review_session_busy: {
    status: 409,
    retry: true,
    retryAfterSeconds: 2,
    message: "Another request is being answered in review session {sessionId}. Nothing was changed; ask again shortly.",
  },
  review_item_undecided: {
    status: 409,
    message: "Remark {remarkId} has no decision yet. It can be recorded on a run once it has one.",
  },
  run_read_only: {
    status: 409,
    message: "Run {runId} was recorded elsewhere and came as a tape. It can be read and judged; {problem}.",
  },
  run_version_conflict: {
    status: 409,
    message: "Run {runId} changed while this request was decided. Send it again.",
    retryAfterSeconds: 1,
    retry: true,
  },
  engine_version_mismatch: {
    status: 409,
    message: "Run {runId} was written by engine version {runEngineVersion}; this host is {engineVersion}. Upgrade it.",
  },
  interrupt_expired: { status: 410, message: "This interrupt could be answered until {expiredAt}." },
  interrupt_gone: { status: 410, message: "This interrupt ended with its run, which was cancelled." },
  fork_source_expired: {
    status: 410,
    message: "Run {sourceRunId} was deleted, or its time is over: nothing can be forked from it any more.",
  },
  run_too_large: {
    status: 413,
    message:
      "Run {runId}, or its log up to there, takes {bytes} bytes, and this host takes {limitBytes} in hand. Fork at an earlier " +
      "sequence, or give the host more memory (--max-run-bytes).",
  },
  payload_too_large: { status: 413, message: "The body is larger than {limitBytes} bytes." },
  tape_too_long: { status: 413, message: "The tape is longer than a run can be: {problem}. Nothing was stored." },
  unsupported_media_type: { status: 415, message: "Send the body as application/json." },
  capability_required: {
    status: 422,
    message: "Node {nodeId} has type {offendingTypeId}, which needs {requiredCapability}; this host does not serve it.",
  },
  interrupt_cancelled: { status: 422, message: "Run {runId} was cancelled while this interrupt was open." },
  correlation_mismatch: {
    status: 422,
    message: "The event does not match the correlation that the run waits for. The run still waits.",
  },
  fork_point_invalid: {
    status: 422,
    message: "The run cannot be forked there: {problem}. Its events are at GET /v1/runs/{sourceRunId}/events/poll.",
  },
  tape_unreadable: {
    status: 422,
    message: "The tape cannot be imported: {message}. Nothing was stored.",
  },
  tape_body_refused: { status: 422, message: "Body {hash} was not stored: {problem}." },
  tape_body_secret: {
    status: 422,
    message: "Body {hash} was not stored: it holds something that looks like a secret, and it cannot be taken out.",
  },
  sidecar_unreadable: { status: 422, message: "The sidecar cannot be read: {message}. Nothing was changed." },
  sidecar_refused: { status: 422, message: "The sidecar cannot be taken: {problem}. Nothing was changed." },
  rate_limited: { status: 429, message: "Too many requests. Wait {retryAfterMs} ms.", retry: true },
  tenant_run_limit: {
    status: 429,
    message:
      "The tenant has {limit} runs that have not ended, and may have no more. Cancel some, or wait for some to end.",
    retryAfterSeconds: 5,
    retry: true,
  },
  tenant_key_limit: {
    status: 429,
    message: "The tenant has {limit} keys that work, and may have no more. Revoke keys that are not needed.",
  },
  headers_too_large: { status: 431, message: "The request's headers are larger than {limitBytes} bytes. Send fewer." },
  ...HOST_ERRORS,
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;
export type ErrorDetails = Readonly<Record<string, unknown>>;

/** The one error the product throws on purpose. The SDK rebuilds it from `code`, `message` and `details`. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, details: ErrorDetails = {}, options?: ErrorOptions) {
    super(fill(templateOf(ERRORS[code], details), details), options);
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  get mayRetry(): boolean {
    return (ERRORS[this.code] as ErrorRow).retry === true;
  }

  get retryAfterSeconds(): number | undefined {
    const ms = this.details["retryAfterMs"];
    if (typeof ms === "number") return Math.max(1, Math.ceil(ms / 1000));
    return (ERRORS[this.code] as ErrorRow).retryAfterSeconds;
  }
}

/** Refuses a body, a query or a value in it; `problem` is the message, the other details say where. */
export function validationError(problem: string, details: ErrorDetails = {}): AppError {
  return new AppError("validation_error", { problem, ...details });
}

/** Refuses an argument, a file or a setting that cannot be used; `problem` is the part of the message that says why. */
export function unusableInput(problem: string, cause?: unknown): AppError {
  return new AppError("unusable_input", { problem }, cause === undefined ? undefined : { cause });
}

function templateOf({ message, problem }: ErrorRow, details: ErrorDetails): string {
  return problem !== undefined && details["problem"] !== undefined ? problem : message;
}

function fill(template: string, details: ErrorDetails): string {
  return template.replace(/\{(\w+)\}/g, (_, key: string) => {
    const value = details[key];
    return value === undefined ? key : textOf(value);
  });
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  const isList = Array.isArray(value) && value.every((one) => typeof one === "string");
  return isList ? value.join(", ") : JSON.stringify(value);
}
