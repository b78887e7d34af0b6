import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { SuiteInfo, SuiteListQuery, SuitePage, SuiteRecord } from "../../protocol/evals/suite-api.ts";
import type { Document, Documents } from "../../store/port/documents.ts";
import { HOST_WIDE } from "../../store/port/store.ts";
import { compareVersions, parseSuiteRef, refText, type SuiteRef } from "./suite-ref.ts";

const INFO = "info:";
const TEXT = "text:";

export function infoKey(ref: string): string {
  return `${INFO}${ref}`;
}

export function textKey(ref: string): string {
  return `${TEXT}${ref}`;
}

export function infoOf(record: SuiteRecord, tenant: string): SuiteInfo {
  return { ...record, hostWide: tenant === HOST_WIDE };
}

/** The suite of exactly this tenant, or of the host. */
export async function currentSuite(store: Documents, tenant: string, ref: string): Promise<SuiteInfo | undefined> {
  const document = await store.readDocument({ tenant, kind: "suite", key: infoKey(ref) });
  return document && parsed(document);
}

/**
 * The suite that a tenant sees under this name: the host's, else its own. A suite of the host is never shadowed, because evidence names a
 * suite by id and version.
 */
export async function recordOf(
  store: Documents,
  tenant: string,
  { suiteId, version }: SuiteRef,
): Promise<SuiteInfo | undefined> {
  if (version === undefined) return highest(store, tenant, suiteId);
  const ref = refText({ suiteId, version });
  return (await currentSuite(store, HOST_WIDE, ref)) ?? (await currentSuite(store, tenant, ref));
}

const PAGE = 200;

async function highest(store: Documents, tenant: string, suiteId: string): Promise<SuiteInfo | undefined> {
  let best: SuiteInfo | undefined;
  let after: string | undefined;
  do {
    const page = await seen(store, tenant, `${INFO}${suiteId}@`, PAGE, after);
    for (const info of page) if (best === undefined || compareVersions(info.version, best.version) > 0) best = info;
    const last = page.at(-1);
    after = page.length === PAGE && last !== undefined ? infoKey(refText(last)) : undefined;
  } while (after !== undefined);
  return best;
}

const DEFAULT_LIMIT = 50;

/** A page by id and version as texts. A cursor is the name of the last suite of the page before. */
export async function listSuites(
  { store }: { readonly store: Documents },
  tenant: string,
  { suiteId, limit = DEFAULT_LIMIT, cursor }: SuiteListQuery,
): Promise<SuitePage> {
  const prefix = suiteId === undefined ? INFO : `${INFO}${suiteId}@`;
  const after = cursor === undefined ? undefined : infoKey(checkedCursor(cursor));
  const found = await seen(store, tenant, prefix, limit + 1, after);
  const suites = found.slice(0, limit);
  const last = suites.at(-1);
  return found.length > limit && last ? { suites, nextCursor: refText(last) } : { suites };
}

function checkedCursor(cursor: string): string {
  try {
    if (parseSuiteRef(cursor).version !== undefined) return cursor;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
  throw validationError("cursor is not one this host gave out");
}

/** The suites that a tenant sees, in the order of names: those of the host, and its own under other names. */
async function seen(
  store: Documents,
  tenant: string,
  prefix: string,
  limit: number,
  after: string | undefined,
): Promise<SuiteInfo[]> {
  const query = { prefix, limit, ...defined({ after }) };
  const [own, wide] = await Promise.all([
    store.listDocuments(tenant, "suite", query),
    store.listDocuments(HOST_WIDE, "suite", query),
  ]);
  const byKey = new Map([...own, ...wide].map((document) => [document.key, document]));
  return [...byKey.values()]
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .slice(0, limit)
    .map(parsed);
}

function parsed({ tenant, body }: Document): SuiteInfo {
  return infoOf(JSON.parse(body) as SuiteRecord, tenant);
}
