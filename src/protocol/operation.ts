import type { ErrorCode } from "./errors.ts";
import type { Scope } from "./identity/scopes.ts";
import type { TSchema } from "./schema.ts";

/** One route: the facts that routing, validation, authorisation, OpenAPI and the SDK need. */
export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** `{name}` is a parameter; a `:verb` belongs to the segment before it. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  /** A scope; "authenticated" for any valid key; "public" for none. */
  readonly access: Scope | "authenticated" | "public";
  /** A second scope, where the first alone does not do. */
  readonly alsoNeeds?: Scope;
  /** Served only when this capability is on; `off` is the answer otherwise, before scope and look-up. */
  readonly gate?: { readonly capability: Capability; readonly off: "not_found" | "capability_not_provided" };
  /**
   * False where the handler finds the run of the path itself, because it has more to say when there is none; "identity"
   * where only what never changes of it matters, or the handler reads it in its turn.
   */
  readonly looksUpRun?: false | "identity";
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** The body as the pipeline checks it, where the handler checks the rest of `body`: the code depends on what it is for. */
  readonly bodyAsRead?: TSchema;
  /** The body holds a tape or a part of one: `maxTapeBytes` bounds it, and not `maxRequestBodyBytes`. */
  readonly takesTape?: true;
  /** The body is handed on as the bytes it came as: the handler finds all that is wrong with it, not the first few things. */
  readonly takesText?: true;
  /** The body is handed on as the bytes it came as, whatever it says it is; `maxReviewBytes` bounds it. */
  readonly takesReview?: true;
  /** The schema of a body that is handed on as bytes. It is described and not enforced: the handler checks the body. */
  readonly bytesOf?: TSchema;
  /** Sentences for the API document that the summary has no room for. */
  readonly about?: string;
  /** The body is an archive, handed on as it came; `maxPackBytes` bounds it. */
  readonly takesPack?: true;
  /** Present on routes that change something: `Idempotency-Key` is honoured. `many` makes several commits. */
  readonly idempotent?: "one" | "many";
  /** The answer holds a secret: it is recorded sealed with the caller's API key, and replayed to that key only. */
  readonly sealsReply?: true;
  readonly success: {
    readonly status: number;
    /** Of an answer in JSON. */
    readonly schema?: TSchema;
    readonly contentType?: string;
    /** Of an answer of that content type. */
    readonly content?: TSchema;
    /** Of each line, where the answer is JSON lines. */
    readonly line?: TSchema;
    /** Of each frame, by the name of its event, where the answer is server-sent events. */
    readonly frames?: Readonly<Record<string, { readonly data: TSchema }>>;
    /** Further frames: a `RunEventDoc` each, named by its type, with this payload. */
    readonly events?: Readonly<Record<string, { readonly payload: TSchema }>>;
  };
  /** Where the request can end well in another way too. */
  readonly otherwise?: { readonly status: number; readonly schema: TSchema; readonly summary: string };
  readonly errors: readonly ErrorCode[];
}

/** Capabilities that configuration can switch off. Discovery and the routes read the same set. */
export const CAPABILITIES = [
  "pauseResume",
  "feedback",
  "auditLogIntegrity",
  "webhooks",
  "replay",
  "diff",
  "debugBundle",
  "reviews",
  "agents",
  "evalSuite",
  "deployment",
  "orchestrator",
  "modelCapabilities",
  "secrets",
  "conformanceSeams",
] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** Errors of any route with a key. */
export const AUTHENTICATED: readonly ErrorCode[] = [
  "unauthenticated",
  "key_expired",
  "key_revoked",
  "rate_limited",
  "unavailable",
];
/** And any route with a scope. */
export const PROTECTED: readonly ErrorCode[] = [...AUTHENTICATED, "forbidden"];
/** Any route that honours an Idempotency-Key. */
export const KEYED: readonly ErrorCode[] = ["validation_error", "idempotency_in_flight", "idempotency_key_mismatch"];
/** Any route that takes a body. */
export const BODY: readonly ErrorCode[] = ["validation_error", "payload_too_large", "unsupported_media_type"];
