import { AppError } from "../../protocol/errors.ts";
import { SCHEMA_MEDIA_TYPE } from "../../protocol/host-operations.ts";
import {
  isSchemaName,
  SCHEMA_NAMES,
  type SchemaName,
  schemaDocument,
  schemaIndex,
} from "../../protocol/published-schemas.ts";
import type { HttpDeps } from "../pipeline/deps.ts";
import type { Handler, RequestContext } from "../pipeline/handler.ts";
import type { Reply } from "../pipeline/reply.ts";
import { etagOf, noneMatch } from "../pipeline/reply.ts";
import { asyncApiDocument } from "./asyncapi.ts";
import { discoveredOf, discoveryDocument } from "./discovery.ts";
import { openApiDocument } from "./openapi.ts";

type DocumentOperation = "getDiscovery" | "getOpenApi" | "getAsyncApi" | "listSchemas" | "getSchema";

/** The public documents. Each is text with an ETag; a document that cannot change is made once, at its first request. */
export function documentRoutes(deps: HttpDeps): Record<DocumentOperation, Handler> {
  const { version } = deps;
  return {
    getDiscovery: discoveryRoute(deps),
    getOpenApi: fixedDocument(() => openApiDocument(version)),
    getAsyncApi: fixedDocument(() => asyncApiDocument(version)),
    listSchemas: fixedDocument(schemaIndex),
    getSchema: schemaRoute(),
  };
}

function discoveryRoute(deps: HttpDeps): Handler {
  const { host, fixtures } = deps;
  const fixed = discoveredOf(deps);
  if (fixtures === undefined || !host.capabilities.has("conformanceSeams")) {
    return fixedDocument(() => discoveryDocument(fixed));
  }
  return async (context) => serve(context, textOf(discoveryDocument({ ...fixed, fixtures: await fixtures() })));
}

const FILE_ENDING = /(\.schema)?\.json$/;

/** The names of the files that the package ships are taken as well. */
function schemaRoute(): Handler {
  const made = new Map<SchemaName, DocumentText>();
  return (context) => {
    const name = (context.params["schemaName"] ?? "").replace(FILE_ENDING, "");
    if (!isSchemaName(name)) throw new AppError("not_found", { what: "schema", known: SCHEMA_NAMES });
    const document = made.get(name) ?? textOf(schemaDocument(name));
    made.set(name, document);
    return serve(context, document, SCHEMA_MEDIA_TYPE);
  };
}

interface DocumentText {
  readonly text: string;
  readonly etag: string;
}

function fixedDocument(make: () => unknown): Handler {
  let made: DocumentText | undefined;
  return (context) => {
    made ??= textOf(make());
    return serve(context, made);
  };
}

function textOf(document: unknown): DocumentText {
  const text = JSON.stringify(document);
  return { text, etag: etagOf(text) };
}

/** `Vary` keeps a shared cache from answering a request for another version of the protocol with this document. */
function serve(context: RequestContext, { text, etag }: DocumentText, contentType = "application/json"): Reply {
  const headers = { etag, "cache-control": "public, max-age=300", vary: "OpenWOP-Version" };
  if (!noneMatch(context.headers["if-none-match"], etag)) return { status: 304, raw: null, headers };
  return { status: 200, raw: text, contentType, headers };
}
