import type { Store } from "../../store/port/store.ts";
import type { Written } from "../pipeline/serialise.ts";
import { consolePages } from "./console.ts";
import { healthz, readiness } from "./health.ts";

export interface SystemRequest {
  /** What follows `/console/` in the path. */
  readonly rest: string;
  readonly ifNoneMatch: string | undefined;
}

export type SystemRoute = (request: SystemRequest) => Written | undefined | Promise<Written | undefined>;

export interface SystemDeps {
  readonly store: Pick<Store, "ping">;
  readonly version: string;
  readonly consoleDir: string | undefined;
  isClosing(): boolean;
  /** Whether the audit chain of a tenant is not signed because it contradicts itself or its anchor. */
  isAuditRefused(): boolean;
}

/** What is served outside the protocol, without a key: health, and the console's files. */
export function systemRoutes({ store, version, consoleDir, ...state }: SystemDeps): Record<string, SystemRoute> {
  const health = { "/healthz": healthz, "/readyz": readiness(store, state) };
  if (consoleDir === undefined) return { ...health, "/": () => front(version) };
  const console = consolePages(consoleDir);
  return {
    ...health,
    "/": toConsole,
    "/console": toConsole,
    "/console/*": ({ rest, ifNoneMatch }) => console(rest, ifNoneMatch),
  };
}

function toConsole(): Written {
  return { status: 302, raw: null, headers: { location: "/console/", "cache-control": "no-store" } };
}

/** For whoever opens the address of a host without a console. */
function front(version: string): Written {
  const links = {
    discovery: "/.well-known/openwop",
    openapi: "/v1/openapi.json",
    asyncapi: "/v1/asyncapi.json",
    schemas: "/v1/schemas",
  };
  return { status: 200, json: { name: "assay", version, ...links } };
}
