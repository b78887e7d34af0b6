import type { ErrorCode } from "./errors.ts";
import type { Scope } from "./identity/scopes.ts";
import type { TSchema } from "./schema.ts";

/** One route: the facts that routing, validation, authorization, OpenAPI and the SDK need. */
export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** `{name}` is a parameter; a `:verb` belongs to the segment before it. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  /** A scope; "authenticated" for any valid key; "public" for none. */
  readonly access: Scope | "authenticated" | "public";
  /** A second scope that the caller needs too. */
  readonly alsoNeeds?: Scope;
  /** Served only while this capability is on; otherwise the answer is `errorWhenOff`, before scope and look-up. */
  readonly capability?: Capability;
  /**
   * False where the handler looks up the run of the path, because its error has more details; "identity" where the handler
   * needs only what never changes of the run, or reads the run itself.
   */
  readonly looksUpRun?: false | "identity";
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** The part of `body` that the pipeline checks, where the handler checks the rest: the error code depends on the interrupt. */
  readonly bodyAsRead?: TSchema;
  /** The body holds a tape or a part of one: the limit is `maxTapeBytes` and not `maxRequestBodyBytes`. */
  readonly takesTape?: true;
  /** The handler gets the bytes of a JSON body and checks them itself, so that it can report every problem with its place. */
  readonly takesText?: true;
  /** The handler gets the bytes of the body, of any content type; the limit is `maxReviewBytes`. */
  readonly takesReview?: true;
  /** The handler gets the bytes of the body, an archive; the limit is `maxPackBytes`. */
  readonly takesPack?: true;
  /** The schema of a body that the handler gets as bytes. It is described and not enforced. */
  readonly bytesOf?: TSchema;
  /** Further sentences for the API document. */
  readonly about?: string;
  /** `Idempotency-Key` is honored. One commit or many. */
  readonly idempotent?: "one" | "many";
  /** The response holds a secret: it is recorded sealed with the caller's API key, and replayed to that key only. */
  readonly sealsReply?: true;
  readonly success: {
    readonly status: number;
    /** Of a response in JSON. */
    readonly schema?: TSchema;
    readonly contentType?: string;
    /** Of a response of that content type. */
    readonly content?: TSchema;
    /** Of each line of a response in JSON lines. */
    readonly line?: TSchema;
    /** Of each server-sent event, by its name. */
    readonly frames?: Readonly<Record<string, { readonly data: TSchema }>>;
    /** Further frames: a `RunEventDoc` each, named by its type, with this payload. */
    readonly events?: Readonly<Record<string, { readonly payload: TSchema }>>;
  };
  /** A second response of success. */
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

/** Error codes of every route with a key. */
const AUTHENTICATED: readonly ErrorCode[] = [
  "unauthenticated",
  "key_expired",
  "key_revoked",
  "rate_limited",
  "unavailable",
];
/** Error codes of every route that honors an Idempotency-Key. */
const KEYED: readonly ErrorCode[] = ["validation_error", "idempotency_in_flight", "idempotency_key_mismatch"];
/** Error codes of every route that takes a body. */
const BODY: readonly ErrorCode[] = ["validation_error", "payload_too_large", "unsupported_media_type"];

/** The error of a route whose capability is off. The protocol asks for `capability_not_provided` of judgments. */
export function errorWhenOff(capability: Capability): "not_found" | "capability_not_provided" {
  return capability === "feedback" ? "capability_not_provided" : "not_found";
}

type Row = Omit<Operation, "tag" | "access" | "errors"> & Partial<Pick<Operation, "tag" | "access" | "errors">>;
type Common = Partial<Pick<Operation, "tag" | "access" | "capability">>;

/** A table of operations: each has the common members where it has none of its own, and the error codes that follow from the others. */
export function operations<const C extends Common, const T extends Readonly<Record<string, Row>>>(
  common: C,
  rows: T,
): { readonly [Id in keyof T]: Omit<C, keyof T[Id]> & Omit<T[Id], "errors"> & Pick<Operation, "errors"> } {
  const complete = Object.entries<Row>(rows).map(([id, row]) => {
    const operation = { ...common, ...row };
    return [id, { ...operation, errors: [...new Set([...derivedErrors(operation), ...(row.errors ?? [])])] }];
  });
  return Object.fromEntries(complete);
}

function derivedErrors({ access, capability, idempotent, body, bytesOf, takesPack, query }: Row): readonly ErrorCode[] {
  return [
    ...(access === "public" ? [] : AUTHENTICATED),
    ...(access === "public" || access === "authenticated" ? [] : (["forbidden"] as const)),
    ...(capability === undefined ? [] : [errorWhenOff(capability)]),
    ...(idempotent === undefined ? [] : KEYED),
    ...(body === undefined && bytesOf === undefined && takesPack === undefined ? [] : BODY),
    ...(query === undefined ? [] : (["validation_error"] as const)),
  ];
}
