import { AppError } from "../protocol/errors.ts";
import type { Store } from "../store/store.ts";
import type { Written } from "./send.ts";

const ALIVE: Written = { status: 200, json: { status: "ok" }, headers: { "cache-control": "no-store" } };

/** Whether the process answers at all. A database that is away must not get it restarted. */
export function healthz(): Written {
  return ALIVE;
}

const PING_TIMEOUT_MS = 2000;

const AUDIT_REFUSED: Written = { ...ALIVE, json: { status: "ok", audit: "refused" } };

/**
 * Whether requests should be sent here now. Throws `unavailable`. A host that refuses to sign an audit chain is ready: everything else
 * works, and taking all hosts out of service would hide the finding.
 */
export async function readyz(store: Pick<Store, "ping">, closing: boolean, isAuditRefused: boolean): Promise<Written> {
  if (closing) throw new AppError("unavailable", { reason: "The host is shutting down" });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new AppError("unavailable", { reason: "The database does not answer" });
    timer = setTimeout(() => reject(error), PING_TIMEOUT_MS);
  });
  try {
    await Promise.race([store.ping(), late]);
    return isAuditRefused ? AUDIT_REFUSED : ALIVE;
  } finally {
    clearTimeout(timer);
  }
}
