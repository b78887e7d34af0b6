import { operations } from "./operation.ts";
import { SCHEMAS_PATH, SchemaIndex } from "./published-schemas.ts";
import { JsonObject, open, Type } from "./schema.ts";

export const SCHEMA_MEDIA_TYPE = "application/schema+json";

const common = { tag: "discovery", access: "public" } as const;

/** Documents that describe the host and its API, public, and the metrics of the process. */
export const HOST_OPERATIONS = operations(common, {
  getDiscovery: {
    method: "GET",
    path: "/.well-known/openwop",
    summary: "What this host serves.",
    success: { status: 200, schema: JsonObject },
    errors: ["unavailable"],
  },
  getOpenApi: {
    method: "GET",
    path: "/v1/openapi.json",
    summary: "This API as an OpenAPI 3.1 document.",
    success: { status: 200, schema: JsonObject },
  },
  getAsyncApi: {
    method: "GET",
    path: "/v1/asyncapi.json",
    summary: "The event streams as an AsyncAPI 3 document.",
    success: { status: 200, schema: JsonObject },
  },
  listSchemas: {
    method: "GET",
    path: SCHEMAS_PATH,
    summary: "The JSON Schemas that this host publishes, by name.",
    success: { status: 200, schema: SchemaIndex },
  },
  getSchema: {
    method: "GET",
    path: `${SCHEMAS_PATH}/{schemaName}`,
    summary: "One JSON Schema (draft 2020-12). A name that ends in .schema.json or .json is the same schema.",
    success: {
      status: 200,
      contentType: SCHEMA_MEDIA_TYPE,
      content: Type.Object({ $schema: Type.String(), $id: Type.String() }, open),
    },
    errors: ["not_found"],
  },
  getMetrics: {
    method: "GET",
    path: "/v1/host/assay/metrics",
    tag: "operations",
    summary: "Prometheus metrics of this process.",
    access: "metrics:read",
    success: { status: 200, contentType: "text/plain; version=0.0.4" },
  },
});
