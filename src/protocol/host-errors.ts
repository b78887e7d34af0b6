export interface ErrorRow {
  readonly status: number;
  readonly message: string;
  /** The message where the details name a problem of their own. */
  readonly problem?: string;
  /** Sent as `Retry-After` unless the error's own details say how long. */
  readonly retryAfterSeconds?: number;
  readonly retry?: true;
}

/**
 * Errors of the host, part of the table in `errors.ts`: statuses from 500, and errors that are raised inside the process or by the
 * command line.
 */
export const HOST_ERRORS = {
  internal_error: {
    status: 500,
    message: "Something went wrong on the server. Quote correlation id {correlationId} when you report it.",
    retry: true,
  },
  capability_not_provided: { status: 501, message: "This host does not provide {capability}." },
  schema_check_timeout: {
    status: 503,
    message:
      "Checking a value against its JSON Schema took too long. Nothing was changed. Try again, or simplify the schema.",
    retryAfterSeconds: 5,
    retry: true,
  },
  unavailable: { status: 503, message: "{reason}. Try again.", retryAfterSeconds: 1, retry: true },
  audit_anchor_unusable: {
    status: 503,
    message:
      "The anchor of the audit log cannot be used: {problem}. No checkpoint is signed without it. Make {file} readable and writable for the host, or name another place with --audit-anchor.",
  },
  // Raised inside the process or by the command line; they reach no client over HTTP as themselves.
  lease_lost: { status: 500, message: "Another worker holds run {runId} now.", retry: true },
  database_in_use: {
    status: 500,
    message: "{path} is in use by process {pid} on {host}. Stop it first, or talk to it with --url.",
  },
  schema_too_new: {
    status: 500,
    message: "The database has schema version {found}; this Assay knows up to {known}. Upgrade Assay.",
  },
  schema_outdated: {
    status: 500,
    message: "The database has schema version {found}; this Assay needs {known}. Run `assay migrate`.",
  },
  unreachable: {
    status: 500,
    message: "No answer from {url}: {reason}. Is the server running? Start it with `assay serve`.",
  },
  model_failed: { status: 500, message: "The model gave no usable answer: {problem}." },
  review_in_use: {
    status: 500,
    retry: true,
    message: "Review {review} is in use by another process. Nothing was changed; wait for it, then try again.",
  },
  review_ended: {
    status: 500,
    message: "Review {review} has ended: {ending}. Use --reopen to go on all the same, or start another one.",
  },
  review_undecided: {
    status: 500,
    message:
      "Review {review} has remarks without a decision: {ids}. Nothing was sent; `assay review decide` takes them.",
  },
  review_decision_refused: { status: 500, message: "The decision on {id} was not taken: {problem}." },
  review_request_refused: { status: 500, message: "Nothing was sent: {problem}." },
  review_unreadable: { status: 500, message: "{path} cannot be read: {problem}. Nothing was changed." },
  row_refused: { status: 500, message: "Nothing was written: {problem}. Use --force to write it all the same." },
  audit_anchor_conflict: {
    status: 500,
    message:
      "The audit log of tenant {tenant} does not continue what was signed: {problem}. No checkpoint is signed over it. Compare it with an export (assay audit verify --against FILE); after restoring a backup on purpose, accept it with assay audit accept.",
  },
  unusable_input: { status: 500, message: "{problem}." },
} as const satisfies Record<string, ErrorRow>;
