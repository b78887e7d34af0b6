import { AppError } from "../protocol/errors.ts";
import type { Store } from "../store/store.ts";
import type { Written } from "./send.ts";

const ALIVE: Written = { status: 200, json: { status: "ok" }, headers: { "cache-control": "no-store" } };

/** Whether the process answers at all. A database that is away must not get it restarted. */
export function healthz(): Written {
  return ALIVE;
}

const PING_TIMEOUT_MS = 2000;

/** Whether requests should be sent here now. Throws `unavailable`. */
export async function readyz(store: Pick<Store, "ping">, closing: boolean): Promise<Written> {
  if (closing) throw new AppError("unavailable", { reason: "The host is shutting down" });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new AppError("unavailable", { reason: "The database does not answer" });
    timer = setTimeout(() => reject(error), PING_TIMEOUT_MS);
  });
  try {
    await Promise.race([store.ping(), late]);
    return ALIVE;
  } finally {
    clearTimeout(timer);
  }
}
