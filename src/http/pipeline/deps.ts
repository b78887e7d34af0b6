import type { MockPrograms } from "../../agents/nodes/mock-programs.ts";
import type { PackTrust } from "../../agents/packs/signature.ts";
import type { Anchors } from "../../engine/audit/anchor.ts";
import type { AuditVerifier } from "../../engine/audit/signer.ts";
import type { Host } from "../../engine/host.ts";
import type { Authenticator } from "../../engine/identity/authenticate.ts";
import type { Authorizer } from "../../engine/identity/roles.ts";
import type { EvalServices } from "../../evals/run/eval-run.ts";
import { REQUEST_BYTES_MAX } from "../../formats/reviews/request.ts";
import type { EventRoutes } from "../routes/events.ts";
import type { Sample } from "../routes/metrics.ts";
import type { ReviewService } from "../routes/reviews.ts";

/** Everything the HTTP side is given. Built where the process is wired. */
export interface HttpDeps {
  readonly host: Host;
  readonly settings: HttpSettings;
  readonly log: Log;
  /** For lines that are clean already, see `request-log.ts`. Absent: they go to `log`. */
  readonly requestLog?: Log;
  /** Of the package; shown by discovery and in the API documents. */
  readonly version: string;
  readonly authenticator: Pick<Authenticator, "authenticate" | "cacheMs">;
  readonly authorizer: Pick<Authorizer, "authorize" | "decide">;
  /** Whose key signs the checkpoints, and how often it does. */
  readonly audit: AuditSettings;
  readonly events: EventRoutes;
  readonly reviews: ReviewService;
  /** Agents, and what evaluations of them need. */
  readonly evals: EvalServices;
  /** Answers that a conformance suite staged; absent where the seams are off. */
  readonly mocks?: MockPrograms;
  /** Whose packs are installed. */
  readonly trust: PackTrust;
  /** The built console. Absent: it is not served. */
  readonly consoleDir?: string;
  /** Ids of the workflows that discovery lists as fixtures; asked only while the conformance seams are on. */
  fixtures?(): Promise<readonly string[]>;
  /** Further metrics of this process: the worker's, the store's. Asked at every scrape. */
  samples?(): readonly Sample[];
}

export interface AuditSettings {
  readonly verifier: AuditVerifier;
  /** What was signed so far, kept outside the database. */
  readonly anchors?: Pick<Anchors, "read">;
  readonly intervalEntries: number;
  readonly intervalSeconds: number;
}

/** The part of a pino logger that is used. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface HttpSettings {
  /** The address that others know this host by, where it is not the one of the request. */
  readonly publicUrl?: string;
  readonly maxRequestBodyBytes: number;
  /** Of requests that bring a tape, or a body of one. */
  readonly maxTapeBytes: number;
  /** Of requests for a review. */
  readonly maxReviewBytes: number;
  /** Of a pack of agents that is to be installed. */
  readonly maxPackBytes: number;
  readonly maxJsonDepth: number;
  /** Values and members a body may hold, counted before it is parsed. */
  readonly maxJsonElements: number;
  /** Requests per second and key; 0 is no limit. */
  readonly rateLimit: number;
  readonly maxConnections: number;
  readonly maxHeaderBytes: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** How long an idle connection is kept open for its next request. */
  readonly idleConnectionMs: number;
  readonly shutdownGraceMs: number;
}

export const HTTP_DEFAULTS: HttpSettings = {
  maxRequestBodyBytes: 1_048_576,
  maxTapeBytes: 67_108_864,
  maxReviewBytes: REQUEST_BYTES_MAX,
  maxPackBytes: 16_777_216,
  maxJsonDepth: 64,
  maxJsonElements: 100_000,
  rateLimit: 0,
  maxConnections: 10_000,
  maxHeaderBytes: 16_384,
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 30_000,
  // Longer than the minute for which proxies usually keep theirs: whoever closes first must not be us.
  idleConnectionMs: 72_000,
  shutdownGraceMs: 10_000,
};
