import type { PackSuites } from "../../agents/packs/check-pack.ts";
import { auditDraft, refused } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { serializeFor } from "../../engine/shared/serialize.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { type AuditDraft, HOST_TENANT } from "../../protocol/audit/audit.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import type { PutSuiteResponse, SuiteInfo, SuiteRecord } from "../../protocol/evals/suite-api.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import { problemText } from "../../protocol/schema.ts";
import type { Document, Documents, DocumentWrite } from "../../store/port/documents.ts";
import { HOST_WIDE } from "../../store/port/store.ts";
import { loadSuite, requireSuite, SENT_SUITE_LIMITS, type UsableSuite } from "./load-suite.ts";
import { currentSuite, infoKey, infoOf, recordOf, textKey } from "./stored-suite.ts";
import { parseSuiteRef, refText } from "./suite-ref.ts";
import { suiteRoom } from "./suite-room.ts";

export interface PutSuite {
  readonly caller: Caller;
  /** As the path names it. */
  readonly ref: string;
  readonly bytes: Uint8Array;
}

/**
 * Keeps a suite for the caller's tenant. A suite under this name, of the host or of the tenant, stays as it is: the same suite again
 * changes nothing, other content is refused.
 */
export async function putSuite(
  host: Pick<Host, "store" | "nowMs" | "scrubber">,
  { caller, ref, bytes }: PutSuite,
): Promise<PutSuiteResponse> {
  const named = parseSuiteRef(ref);
  const loaded = requireSuite(loadSuite(bytes, { scrubber: host.scrubber, limits: SENT_SUITE_LIMITS }), "the suite");
  if (named.version === undefined || refText(loaded.suite) !== ref) {
    throw validationError(`the path names another suite than the body, which is ${refText(loaded.suite)}`);
  }
  const warnings = loaded.problems.map(({ severity: _, fix: __, ...warning }) => warning);
  const current = await recordOf(host.store, caller.tenant, loaded.suite);
  if (current !== undefined) return { ...same(current, loaded), created: false, warnings };

  const atMs = host.nowMs();
  const record = recordFrom(loaded, caller.principal, atMs);
  const details = { sha256: record.sha256, tasks: record.taskCount };
  const committed = await host.store.commit({
    tenant: caller.tenant,
    documents: suiteWrites(caller.tenant, loaded, record, atMs),
    audit: [auditDraft(caller, atMs, ref, { action: "suite.registered", details })],
  });
  if (committed.ok) return { ...infoOf(record, caller.tenant), created: true, warnings };
  if (committed.refusal.type !== "document") throw refused(committed.refusal);
  // A concurrent request stored this suite first; its content decides.
  const winner = await recordOf(host.store, caller.tenant, loaded.suite);
  if (winner === undefined) throw refused(committed.refusal);
  return { ...same(winner, loaded), created: false, warnings };
}

function same(current: SuiteInfo, { suite, sha256 }: UsableSuite): SuiteInfo {
  if (current.sha256 === sha256) return current;
  const { hostWide } = current;
  throw new AppError("suite_conflict", { suite: refText(suite), standing: current.sha256, sent: sha256, hostWide });
}

/** Throws `suite_conflict` where the host has other content under the name of this suite. */
export async function refuseShadow(store: Documents, loaded: UsableSuite): Promise<void> {
  const wide = await currentSuite(store, HOST_WIDE, refText(loaded.suite));
  if (wide !== undefined) same(wide, loaded);
}

function recordFrom({ suite, sha256 }: UsableSuite, registeredBy: string, atMs: number): SuiteRecord {
  const { suiteId, version, modes, tasks, targetAgentId } = suite;
  return {
    suiteId,
    version,
    sha256,
    taskCount: tasks.length,
    modes,
    ...defined({ targetAgentId }),
    registeredBy,
    registeredAt: new Date(atMs).toISOString(),
  };
}

/** Listed fields are stored apart from the text, which may be megabytes. */
function suiteWrites(tenant: string, { suite, text }: UsableSuite, record: SuiteRecord, atMs: number): DocumentWrite[] {
  const put = (key: string, body: string): DocumentWrite => {
    const document: Document = { tenant, kind: "suite", key, revision: 1, atMs, body };
    return { type: "put", document };
  };
  const ref = refText(suite);
  return [put(infoKey(ref), JSON.stringify(record)), put(textKey(ref), text)];
}

/**
 * Writes that keep a suite for a tenant or the host; none where it is there already. Throws `suite_conflict` where the tenant or the host
 * has other content under its name.
 */
export async function suiteWritesUnlessThere(
  store: Documents,
  loaded: UsableSuite,
  { tenant, principal }: { readonly tenant: string; readonly principal: string },
  atMs: number,
): Promise<DocumentWrite[]> {
  const current = await recordOf(store, tenant, loaded.suite);
  if (current === undefined) return suiteWrites(tenant, loaded, recordFrom(loaded, principal, atMs), atMs);
  same(current, loaded);
  return [];
}

/** Whether a suite from a file is new to the host. Throws `suite_conflict` when another one has its name there. */
export async function isNewHostWide({ store }: Pick<Host, "store">, loaded: UsableSuite): Promise<boolean> {
  const current = await currentSuite(store, HOST_WIDE, refText(loaded.suite));
  if (current === undefined) return true;
  same(current, loaded);
  return false;
}

export async function keepHostWide(host: Pick<Host, "store" | "nowMs">, loaded: UsableSuite): Promise<void> {
  const atMs = host.nowMs();
  const record = recordFrom(loaded, "host", atMs);
  const audit: AuditDraft = {
    occurredAt: record.registeredAt,
    actor: "host",
    action: "suite.registered",
    target: refText(loaded.suite),
    details: { sha256: record.sha256, tasks: record.taskCount, source: "--suites" },
  };
  const documents = suiteWrites(HOST_WIDE, loaded, record, atMs);
  const committed = await host.store.commit({ tenant: HOST_TENANT, documents, audit: [audit] });
  if (committed.ok) return;
  // Another host of this database that starts at the same moment brings the same, unless its file is another.
  const isMissing = committed.refusal.type !== "document" || (await isNewHostWide(host, loaded));
  if (isMissing) throw refused(committed.refusal);
}

export interface FoundSuite {
  readonly info: SuiteInfo;
  /** Shared by all that read it at the same time. */
  readonly suite: AgentEvalSuite;
}

type Reads = Pick<Host, "store">;

/**
 * Reads a suite by `id@version`, or `id` for the highest version. Throws `not_found` for a missing suite and for one of another
 * tenant alike. A suite may be megabytes: it is parsed once for all that use it, and suites of one tenant are read one after the other.
 */
export async function readSuite({ store }: Reads, tenant: string, ref: string): Promise<FoundSuite> {
  const info = await recordOf(store, tenant, parseSuiteRef(ref));
  if (info === undefined) throw missing(ref);
  const inUse = suitesInUse(store);
  const known = inUse.get(keyOf(info, tenant))?.deref();
  if (known !== undefined) return { info, suite: known };
  return serializeFor(store, `suites of ${tenant}`, async () => {
    // Both at once: a draft may be replaced meanwhile.
    const { info: found, text } = await stored(store, tenant, info, ref);
    const key = keyOf(found, tenant);
    // Stored suites were checked, and do not change.
    const suite = inUse.get(key)?.deref() ?? (JSON.parse(text) as AgentEvalSuite);
    for (const [other, one] of inUse) if (one.deref() === undefined) inUse.delete(other);
    inUse.set(key, new WeakRef(suite));
    return { info: found, suite };
  });
}

/** The same; undefined where there is none. */
export async function suiteIfThere(...asked: Parameters<typeof readSuite>) {
  return readSuite(...asked).catch((error: unknown) => {
    if (error instanceof AppError && error.code === "not_found") return undefined;
    throw error;
  });
}

/** The text of a suite, as its author wrote it. Throws `not_found` as above. */
export async function suiteText({ store }: Reads, tenant: string, ref: string): Promise<string> {
  const info = await recordOf(store, tenant, parseSuiteRef(ref));
  if (info === undefined) throw missing(ref);
  return (await stored(store, tenant, info, ref)).text;
}

/** Work that keeps a suite until it ends, once there is room for it. Rejects once the signal is aborted. */
export async function withSuiteRoom<T>(
  host: Reads,
  tenant: string,
  ref: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const release = await suiteRoom().hold(tenant, ref, await suiteBytes(host, tenant, ref), signal);
  try {
    return await work();
  } finally {
    release();
  }
}

/** The bytes of the text of a suite; 0 where there is none. */
async function suiteBytes({ store }: Reads, tenant: string, ref: string): Promise<number> {
  const info = await recordOf(store, tenant, parseSuiteRef(ref));
  if (info === undefined) return 0;
  const key = textKey(refText(info));
  const [found] = await store.documentSizes(placeOf(info, tenant), "suite", { prefix: key, limit: 1 });
  return found?.key === key ? found.bytes : 0;
}

async function stored(store: Documents, tenant: string, info: SuiteInfo, ref: string) {
  const keys = [infoKey(refText(info)), textKey(refText(info))];
  const found = await store.readDocuments(placeOf(info, tenant), "suite", keys);
  const [record, text] = keys.map((key) => found.find((one) => one.key === key));
  if (record === undefined || text === undefined) throw missing(ref);
  return { info: infoOf(JSON.parse(record.body) as SuiteRecord, record.tenant), text: text.body };
}

function placeOf({ hostWide }: SuiteInfo, tenant: string): string {
  return hostWide ? HOST_WIDE : tenant;
}

function keyOf(info: SuiteInfo, tenant: string): string {
  return JSON.stringify([placeOf(info, tenant), refText(info), info.sha256]);
}

function missing(ref: string): AppError {
  return new AppError("not_found", { what: "suite", suite: ref });
}

const IN_USE = new WeakMap<object, Map<string, WeakRef<AgentEvalSuite>>>();

function suitesInUse(store: object): Map<string, WeakRef<AgentEvalSuite>> {
  const known = IN_USE.get(store) ?? new Map<string, WeakRef<AgentEvalSuite>>();
  IN_USE.set(store, known);
  return known;
}

/** Suites of packs are suites like any other. */
export function packSuites(scrubber: Scrubber): PackSuites {
  return {
    read(bytes) {
      const loaded = loadSuite(bytes, { scrubber, limits: SENT_SUITE_LIMITS });
      if (!loaded.ok) {
        const errors = loaded.problems.filter(({ severity }) => severity === "error");
        return { ok: false, problems: errors.map((error) => problemText(error, "the suite")) };
      }
      return {
        ok: true,
        suite: {
          ref: refText(loaded.suite),
          sha256: loaded.sha256,
          writes: (store, by, atMs) => suiteWritesUnlessThere(store, loaded, by, atMs),
        },
      };
    },
  };
}
