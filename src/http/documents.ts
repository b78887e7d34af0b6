import { asyncApiDocument } from "./asyncapi.ts";
import type { HttpDeps } from "./deps.ts";
import { discoveredOf, discoveryDocument } from "./discovery.ts";
import { etagOf, noneMatch } from "./etag.ts";
import type { Handler, Reply, RequestContext } from "./handler.ts";
import { openApiDocument } from "./openapi.ts";

/** The public documents. Each is text with a validator; what cannot change is made once, when it is first asked for. */
export function documentRoutes(deps: HttpDeps): Record<"getDiscovery" | "getOpenApi" | "getAsyncApi", Handler> {
  const { version } = deps;
  return {
    getDiscovery: discoveryRoute(deps),
    getOpenApi: fixedDocument(() => openApiDocument(version)),
    getAsyncApi: fixedDocument(() => asyncApiDocument(version)),
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
function serve({ request }: RequestContext, { text, etag }: DocumentText): Reply {
  const headers = { etag, "cache-control": "public, max-age=300", vary: "OpenWOP-Version" };
  if (!noneMatch(request.headers["if-none-match"], etag)) return { status: 304, raw: null, headers };
  return { status: 200, raw: text, contentType: "application/json", headers };
}
