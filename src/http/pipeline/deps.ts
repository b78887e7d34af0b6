import type { MockPrograms } from "../../agents/nodes/mock-programs.ts";
import type { PackTrust } from "../../agents/packs/signature.ts";
import type { Anchors } from "../../engine/audit/anchor.ts";
import type { AuditVerifier } from "../../engine/audit/signer.ts";
import type { Host } from "../../engine/host.ts";
import type { Authenticator } from "../../engine/identity/authenticate.ts";
import type { Authorizer } from "../../engine/identity/roles.ts";
import type { EvalServices } from "../../evals/run/eval-run.ts";
import type { EventRoutes } from "../routes/events.ts";
import type { Sample } from "../routes/metrics.ts";
import type { ReviewService } from "../routes/reviews.ts";

/** The dependencies of the HTTP side. Built where the process is wired. */
export interface HttpDeps {
  readonly host: Host;
  readonly settings: HttpSettings;
  readonly log: Log;
  /** For lines that are cleaned of secrets already (`request-log.ts`). Absent: they go to `log`. */
  readonly requestLog?: Log;
  /** The version of the package; shown by discovery and in the API documents. */
  readonly version: string;
  readonly authenticator: Pick<Authenticator, "authenticate" | "cacheMs">;
  readonly authorizer: Pick<Authorizer, "authorize" | "decide">;
  /** The key that signs the checkpoints, and how often it does. */
  readonly audit: AuditSettings;
  readonly events: EventRoutes;
  readonly reviews: ReviewService;
  /** Agents, and the services of their evaluations. */
  readonly evals: EvalServices;
  /** Answers that a conformance suite staged; absent where its routes are off. */
  readonly mocks?: MockPrograms;
  /** The publishers whose packs are installed. */
  readonly trust: PackTrust;
  /** The built console. Absent: it is not served. */
  readonly consoleDir?: string;
  /** Ids of the workflows that discovery lists as fixtures; read only while the conformance routes are on. */
  fixtures?(): Promise<readonly string[]>;
  /** Further metrics of this process, such as the worker's and the store's; read at every scrape. */
  samples?(): readonly Sample[];
}

export interface AuditSettings {
  readonly verifier: AuditVerifier;
  /** The last signed state of each chain, kept outside the database. */
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
  /** The address under which others reach this host, where it is not the one of the request. */
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
