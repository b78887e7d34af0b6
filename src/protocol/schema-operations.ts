import type { Operation } from "./operation.ts";
import { SCHEMAS_PATH, SchemaIndex } from "./published-schemas.ts";
import { Type } from "./schema.ts";

export const SCHEMA_MEDIA_TYPE = "application/schema+json";

/** JSON Schemas of objects that other programs read or write. Public, as the API documents are. */
export const SCHEMA_OPERATIONS = {
  listSchemas: {
    method: "GET",
    path: SCHEMAS_PATH,
    tag: "discovery",
    summary: "The JSON Schemas that this host publishes, by name.",
    access: "public",
    success: { status: 200, schema: SchemaIndex },
    errors: [],
  },
  getSchema: {
    method: "GET",
    path: `${SCHEMAS_PATH}/{schemaName}`,
    tag: "discovery",
    summary: "One JSON Schema (draft 2020-12). A name that ends in .schema.json or .json is the same schema.",
    access: "public",
    success: {
      status: 200,
      contentType: SCHEMA_MEDIA_TYPE,
      content: Type.Object({ $schema: Type.String(), $id: Type.String() }, { additionalProperties: true }),
    },
    errors: ["not_found"],
  },
} as const satisfies Record<string, Operation>;
