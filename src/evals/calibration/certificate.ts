import { allDocuments, type DocumentReads } from "../../engine/shared/all-documents.ts";
import { canonicalJson } from "../../formats/json/canonical-json.ts";
import { sha256 } from "../../formats/text/sha256.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import {
  type CalibrationReport,
  type CertificateHashes,
  type CertificateProblem,
  CertificateRecord,
  JudgeCertificate,
} from "../../protocol/evals/judge-certificate-api.ts";
import { isId } from "../../protocol/id.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { instantMs } from "../../protocol/instant.ts";
import { matches } from "../../protocol/schema.ts";
import type { Gold } from "../../statistics/gold.ts";
import type { Document, Documents } from "../../store/port/documents.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
export const CERTIFICATE_DAYS = 90;

export interface CertifiedJudge {
  readonly promptSha256: string;
  readonly model: string;
  /** Other inputs that its verdicts depend on, such as the temperature. */
  readonly fingerprint?: string;
  /** Any JSON. */
  readonly rubric: unknown;
}

/**
 * The hashes that a certificate is bound to. Key order and white space of the rubric, and the order of the gold set, do not
 * matter.
 */
export function hashesOfJudge(judge: CertifiedJudge): Omit<CertificateHashes, "goldSha256"> {
  const { promptSha256, rubric } = judge;
  return { promptSha256, modelSha256: hashOfModel(judge), rubricSha256: sha256(canonicalJson(rubric)) };
}

export function hashOfModel({ model, fingerprint }: Pick<CertifiedJudge, "model" | "fingerprint">): string {
  return sha256(fingerprint === undefined ? model : canonicalJson([model, fingerprint]));
}

export function hashOfGold(items: Gold["items"]): string {
  const pairs = items.map(({ itemId, gold }) => [itemId, gold]);
  return sha256(canonicalJson(pairs.sort(([a = ""], [b = ""]) => (a < b ? -1 : a > b ? 1 : 0))));
}

export function certificateOf(
  report: CalibrationReport,
  judge: CertifiedJudge,
  gold: Gold["items"],
  { now, days = CERTIFICATE_DAYS }: { readonly now: string; readonly days?: number },
): JudgeCertificate {
  const issuedMs = instantMs(now);
  if (issuedMs === undefined) throw validationError("the date is no RFC 3339 instant");
  if (!(days > 0 && days <= 3650)) {
    throw validationError("a certificate is valid for more than 0 and at most 3650 days");
  }
  return {
    model: judge.model,
    hashes: { ...hashesOfJudge(judge), goldSha256: hashOfGold(gold) },
    report,
    issuedAt: new Date(issuedMs).toISOString(),
    expiresAt: new Date(issuedMs + days * DAY_MS).toISOString(),
  };
}

export interface CertificateDemands {
  /** The hashes of the judge as it is now. The gold set is compared by callers that have it. */
  readonly hashes: Omit<CertificateHashes, "goldSha256"> & { readonly goldSha256?: string };
  readonly now: string;
  readonly minKappa?: number;
  readonly minN?: number;
}

/**
 * Every reason why the certificate does not hold; none means that it does. Takes whatever was stored: what cannot be read, or cannot
 * be compared, does not hold.
 */
export function certificateProblems(
  certificate: unknown,
  { hashes, now, minKappa = 0.6, minN = 50 }: CertificateDemands,
): CertificateProblem[] {
  if (certificate === undefined || certificate === null) {
    return [{ code: "certificate_missing", problem: "There is no certificate of this judge; calibrate it." }];
  }
  if (!matches(JudgeCertificate, certificate)) {
    return [{ code: "certificate_unreadable", problem: "The certificate does not have the form of one." }];
  }
  return [
    ...changed(certificate.hashes, hashes),
    ...outOfDate(certificate, now),
    ...tooWeak(certificate.report, minKappa, minN),
  ];
}

const BINDINGS = [
  ["promptSha256", "prompt_changed", "The judge's prompt"],
  ["modelSha256", "model_changed", "The judge's model"],
  ["rubricSha256", "rubric_changed", "The rubric"],
  ["goldSha256", "gold_changed", "The gold set"],
] as const;

function changed(certified: CertificateHashes, current: CertificateDemands["hashes"]): CertificateProblem[] {
  return BINDINGS.filter(([hash]) => {
    if (hash === "goldSha256" && current.goldSha256 === undefined) return false;
    return certified[hash] !== current[hash];
  }).map(([, code, what]) => ({ code, problem: `${what} is not the one that was calibrated; calibrate again.` }));
}

function outOfDate({ issuedAt, expiresAt }: JudgeCertificate, now: string): CertificateProblem[] {
  const issued = instantMs(issuedAt);
  const expires = instantMs(expiresAt);
  const today = instantMs(now);
  if (issued === undefined || expires === undefined || today === undefined) {
    return [{ code: "certificate_unreadable", problem: "A date of the certificate cannot be read." }];
  }
  return [
    ...(today < issued ? [{ code: "not_yet_issued" as const, problem: `It is dated ${issuedAt}, after now.` }] : []),
    ...(today >= expires
      ? [{ code: "expired" as const, problem: `It expired at ${expiresAt}; calibrate again.` }]
      : []),
  ];
}

/** Written so that a figure or demand that is no number does not hold. */
function tooWeak({ kappa, n }: CalibrationReport, minKappa: number, minN: number): CertificateProblem[] {
  const problems: CertificateProblem[] = [];
  if (kappa.value === null) {
    problems.push({ code: "kappa_undefined", problem: "Its kappa is undefined: all outputs were judged alike." });
  } else if (!(kappa.value >= minKappa)) {
    problems.push({
      code: "kappa_too_low",
      problem: `Its kappa is ${kappa.value.toFixed(3)}; ${minKappa} is required.`,
    });
  }
  if (!(n >= minN))
    problems.push({ code: "too_few_items", problem: `It rests on ${n} outputs; ${minN} are required.` });
  return problems;
}

/** Ids grow with time, so that keys do. */
function keyOf(workspace: string | undefined, certificateId: string): string {
  return `${prefixOf(workspace)}${JSON.stringify(certificateId)}]`;
}

function prefixOf(workspace: string | undefined): string {
  return `${JSON.stringify([workspace ?? ""]).slice(0, -1)},`;
}

export function certificateDocument(
  { tenant, workspace }: Visibility,
  record: CertificateRecord,
  atMs: number,
): Document {
  return {
    tenant,
    kind: "certificate",
    key: keyOf(workspace, record.certificateId),
    ...defined({ workspace }),
    revision: 1,
    atMs,
    body: JSON.stringify(record),
  };
}

/** Throws `not_found` also for one that is there and cannot be read: it certifies nothing. */
export async function readCertificate(
  store: Pick<Documents, "readDocument">,
  { tenant, workspace }: Visibility,
  certificateId: string,
): Promise<CertificateRecord> {
  const found = isId(certificateId)
    ? await store.readDocument({ tenant, kind: "certificate", key: keyOf(workspace, certificateId) })
    : undefined;
  const record = found && recordOf(found);
  if (record === undefined) throw new AppError("not_found", { what: "certificate", certificateId });
  return record;
}

/** Newest first. A tenant calibrates now and then, so there are few of them. */
export async function allCertificates(
  store: DocumentReads,
  { tenant, workspace }: Visibility,
  suiteId?: string,
): Promise<CertificateRecord[]> {
  const records = await allDocuments(store, tenant, "certificate", { prefix: prefixOf(workspace) }, recordOf);
  return records
    .filter((record) => record !== undefined)
    .filter((record) => (suiteId ?? record.suiteId) === record.suiteId)
    .reverse();
}

function recordOf({ body }: Document): CertificateRecord | undefined {
  const value: unknown = JSON.parse(body);
  return matches(CertificateRecord, value) ? value : undefined;
}
