import { AppError } from "../../protocol/errors.ts";
import type { Store } from "../../store/port/store.ts";
import type { Written } from "../pipeline/serialise.ts";

const ALIVE: Written = { status: 200, json: { status: "ok" }, headers: { "cache-control": "no-store" } };

/** Whether the process answers at all. A database that is away must not get it restarted. */
export function healthz(): Written {
  return ALIVE;
}

const PING_TIMEOUT_MS = 2000;

const AUDIT_REFUSED: Written = { ...ALIVE, json: { status: "ok", audit: "refused" } };

/** How long an answer of the database counts: anyone may ask for it, and each question is a write. */
const KEEP_MS = 1000;

/**
 * Whether requests should be sent here now: the host is not closing, and its database takes a write that lasts. Throws
 * `unavailable`. Questions that come together, or within a second, share one write. A host that refuses to sign an audit chain is
 * ready: everything else works, and taking all hosts out of service would hide the finding.
 */
export function readiness(
  store: Pick<Store, "ping">,
  { isClosing, isAuditRefused }: { isClosing: () => boolean; isAuditRefused: () => boolean },
  nowMs = () => performance.now(),
): () => Promise<Written> {
  let last: { readonly atMs: number; readonly answer: Promise<void> } | undefined;
  return async () => {
    if (isClosing()) throw new AppError("unavailable", { reason: "The host is shutting down" });
    const atMs = nowMs();
    if (last === undefined || atMs - last.atMs >= KEEP_MS) {
      last = { atMs, answer: inTime(store) };
      // Asked again by the next request, which reports it.
      last.answer.catch(() => {});
    }
    await last.answer;
    return isAuditRefused() ? AUDIT_REFUSED : ALIVE;
  };
}

async function inTime(store: Pick<Store, "ping">): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new AppError("unavailable", { reason: "The database does not answer" });
    timer = setTimeout(() => reject(error), PING_TIMEOUT_MS);
  });
  try {
    await Promise.race([store.ping(), late]);
  } finally {
    clearTimeout(timer);
  }
}
