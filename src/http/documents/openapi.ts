import { ERRORS, type ErrorCode } from "../../protocol/errors.ts";
import { EVENT_REPLAYED } from "../../protocol/gates/api.ts";
import { errorWhenOff, type Operation } from "../../protocol/operation.ts";
import { OPERATIONS, type OperationId } from "../../protocol/operations.ts";
import type { TSchema } from "../../protocol/schema.ts";
import { type JsonSchema, reference, referredSchemas, schemaOrReference } from "./named-schemas.ts";
import { REQUEST_EXAMPLES } from "./openapi-examples.ts";
import { HEADERS, PARAMETERS, TAGS } from "./openapi-parts.ts";

/** The API as an OpenAPI 3.1 document. A pure function of the operation table; the conformance seams are left out. */
export function openApiDocument(version: string): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const [id, operation] of publicOperations()) {
    const path = paths[operation.path] ?? {};
    path[operation.method.toLowerCase()] = describe(id, operation);
    paths[operation.path] = path;
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Assay",
      version,
      summary: "An OpenWOP host with durable runs, gates, annotations, evaluations and reviews.",
      description:
        "Every response that is no success is an ErrorEnvelope. Every response carries X-Request-Id and OpenWOP-Version.",
    },
    servers: [{ url: "/", description: "This host" }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", description: "An API key, made with `assay key create`." },
      },
      schemas: referredSchemas(paths),
      parameters: PARAMETERS,
      headers: HEADERS,
      examples: exampleErrors(),
    },
  };
}

function exampleErrors(): Record<string, JsonSchema> {
  const codes = new Set(publicOperations().flatMap(([, operation]) => errorsOf(operation)));
  const example = (code: ErrorCode) => ({ value: { error: code, message: ERRORS[code].message, details: {} } });
  return Object.fromEntries([...codes].sort().map((code) => [code, example(code)]));
}

function publicOperations(): [OperationId, Operation][] {
  const all = Object.entries(OPERATIONS) as [OperationId, Operation][];
  return all.filter(([, { capability }]) => capability !== "conformanceSeams");
}

function describe(id: OperationId, operation: Operation): JsonSchema {
  const { tag, summary, access, body, bytesOf, takesPack } = operation;
  const parameters = parametersOf(id, operation);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(access === "public" ? { security: [] } : { description: descriptionOf(operation) }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(takesPack === true ? { requestBody: ARCHIVE } : {}),
    ...(body === undefined && bytesOf === undefined ? {} : { requestBody: requestBody(id, operation) }),
    responses: { ...successes(id, operation), ...failures(operation), default: failure("Any other error.") },
  };
}

function descriptionOf(operation: Operation): string {
  return [accessText(operation), ...(operation.about === undefined ? [] : [operation.about])].join("\n\n");
}

function accessText({ access, alsoNeeds, capability }: Operation): string {
  const scopes = alsoNeeds === undefined ? `scope \`${access}\`` : `scopes \`${access}\` and \`${alsoNeeds}\``;
  const needs = access === "authenticated" ? "Needs any valid key." : `Needs ${scopes}.`;
  if (capability === undefined) return needs;
  return `${needs} Served while capability ${capability} is on, otherwise ${ERRORS[errorWhenOff(capability)].status}.`;
}

const WITH_ETAG: ReadonlySet<OperationId> = new Set([
  "getDiscovery",
  "getOpenApi",
  "getAsyncApi",
  "listSchemas",
  "getSchema",
  "getRun",
]);

function parametersOf(id: OperationId, operation: Operation): JsonSchema[] {
  const shared = (name: keyof typeof PARAMETERS) => ({ $ref: `#/components/parameters/${name}` });
  const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string", minLength: 1 },
  }));
  return [
    ...inPath,
    ...queryParameters(operation),
    ...(operation.idempotent === undefined ? [] : [shared("IdempotencyKey")]),
    ...(WITH_ETAG.has(id) ? [shared("IfNoneMatch")] : []),
    ...(id === "streamEvents" ? [shared("LastEventId")] : []),
    ...(id === "createRun" ? [shared("Dedup")] : []),
    shared("ProtocolVersion"),
  ];
}

function queryParameters({ query }: Operation): JsonSchema[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = JSON.parse(JSON.stringify(query)) as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    ...(required.includes(name) ? { required: true } : {}),
    schema,
  }));
}

const ARCHIVE = { required: true, content: { "application/gzip": {}, "application/x-tar": {} } };

function requestBody(id: OperationId, { body, bytesOf }: Operation): JsonSchema {
  const example = REQUEST_EXAMPLES[id];
  const described = body ?? bytesOf;
  const schema = described === undefined ? {} : schemaOrReference(described);
  const required = bytesOf === undefined ? {} : { required: true };
  return { ...required, content: { "application/json": { schema, ...(example === undefined ? {} : { example }) } } };
}

function successes(id: OperationId, operation: Operation): Record<string, JsonSchema> {
  const { success, idempotent, otherwise } = operation;
  const etag = WITH_ETAG.has(id) ? { ETag: header("ETag") } : undefined;
  const headers = {
    ...etag,
    ...(idempotent === undefined ? {} : { "openwop-Idempotent-Replay": header("IdempotentReplay") }),
    ...(id === "sendExternalEvent" ? { [EVENT_REPLAYED]: header("EventReplayed") } : {}),
    ...(id === "runReview" ? { "X-AFP-Session": header("ReviewSession") } : {}),
  };
  const answer = {
    description: id === "registerWorkflow" ? "Registered." : "Success.",
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    content: contentOf(id, operation),
  };
  return {
    ...(id === "registerWorkflow"
      ? { "200": { ...answer, description: "The same definition was registered already." } }
      : {}),
    [String(success.status)]: answer,
    ...(otherwise === undefined ? {} : { [String(otherwise.status)]: otherwiseOf(otherwise, headers) }),
    ...(etag === undefined ? {} : { "304": { description: "Not changed.", headers: etag } }),
  };
}

function otherwiseOf({ summary, schema }: NonNullable<Operation["otherwise"]>, headers: JsonSchema): JsonSchema {
  return { description: summary, headers, content: { "application/json": { schema: schemaOrReference(schema) } } };
}

function contentOf(id: OperationId, { success }: Operation): JsonSchema {
  const { schema, contentType, content, line } = success;
  if (id === "getDiscovery") return { "application/json": { schema: reference("Discovery") } };
  const json = schema === undefined ? {} : { "application/json": { schema: schemaOrReference(schema) } };
  if (contentType === undefined) return json;
  const text = contentType.startsWith("text/") ? { type: "string" } : {};
  const other = content === undefined ? text : schemaOrReference(content);
  return { [contentType]: { schema: line === undefined ? other : linesOf(contentType, line) }, ...json };
}

/** JSON lines are a text to JSON Schema; `contentSchema` is that of each line. */
function linesOf(contentMediaType: string, line: TSchema): JsonSchema {
  const description = "One JSON object per line, each line ended by LF; contentSchema describes a line.";
  return { type: "string", description, contentMediaType, contentSchema: schemaOrReference(line) };
}

/** The version of the protocol is negotiated before any route is asked, so its refusal is in no operation's own list. */
function errorsOf({ errors, path }: Operation): readonly ErrorCode[] {
  return [...errors, path.startsWith("/v1/") ? "protocol_version_mismatch" : "protocol_version_unsupported"];
}

/** One response per status, naming the codes it may carry. */
function failures(operation: Operation): Record<string, JsonSchema> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(errorsOf(operation))) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const rows = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(rows.map(([status, codes]) => [String(status), failureOf(status, codes)]));
}

function failureOf(status: number, codes: readonly ErrorCode[]): JsonSchema {
  const retries = status === 429 || codes.some((code) => "retryAfterSeconds" in ERRORS[code]);
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]));
  const headers = retries ? { headers: { "Retry-After": header("RetryAfter") } } : {};
  return { ...failure(codes.map((code) => `\`${code}\``).join(", "), examples), ...headers };
}

function failure(description: string, examples?: JsonSchema): JsonSchema {
  const schema = reference("ErrorEnvelope");
  return { description, content: { "application/json": { schema, ...(examples === undefined ? {} : { examples }) } } };
}

function header(name: keyof typeof HEADERS): JsonSchema {
  return { $ref: `#/components/headers/${name}` };
}
