import { parentPort } from "node:worker_threads";
import { compileSchema } from "./decide/json-schema.ts";
import type { SchemaObject } from "./decide/schema-document.ts";

/** The thread of `schema-checks.ts`: one check at a time, with the budget that every check has. */
if (parentPort === null) throw new Error("schema-thread.ts runs as a worker thread only");

const port = parentPort;
port.on("message", ({ schema, value }: { readonly schema: SchemaObject; readonly value: unknown }) =>
  port.postMessage(compileSchema(schema, "the schema")(value)),
);
