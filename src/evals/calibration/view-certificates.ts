import type { Host } from "../../engine/host.ts";
import { validationError } from "../../protocol/errors.ts";
import type { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import type {
  CertificateListQuery,
  CertificatePage,
  CertificateRecord,
  CertificateView,
} from "../../protocol/evals/judge-certificate-api.ts";
import { isId } from "../../protocol/id.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { EvalServices } from "../run/eval-run.ts";
import { suiteIfThere } from "../suite/suite-store.ts";
import { allCertificates, readCertificate } from "./certificate.ts";
import { hashesOf, problemsOf, recordedJudge, UNVERSIONED } from "./judge-certification.ts";

type Needs = Pick<Host, "store" | "nowMs">;
type Judging = Pick<EvalServices, "judge">;

const DEFAULT_LIMIT = 50;

/** Newest first. */
export async function listCertificates(
  host: Needs,
  services: Judging,
  visible: Visibility,
  { suiteId, limit = DEFAULT_LIMIT, cursor }: CertificateListQuery,
): Promise<CertificatePage> {
  if (cursor !== undefined && !(cursor.startsWith("cert-") && isId(cursor))) {
    throw validationError("cursor is not one this host gave out");
  }
  const all = await allCertificates(host.store, visible, suiteId);
  const rest = cursor === undefined ? all : all.filter(({ certificateId }) => certificateId < cursor);
  const suites = new Map<string, AgentEvalSuite | undefined>();
  const certificates: CertificateView[] = [];
  for (const record of rest.slice(0, limit)) {
    if (!suites.has(record.suiteId)) suites.set(record.suiteId, await suiteNow(host, visible, record.suiteId));
    certificates.push(viewOf(host, services, record, suites.get(record.suiteId)));
  }
  const last = certificates.at(-1);
  return rest.length > limit && last ? { certificates, nextCursor: last.certificateId } : { certificates };
}

export async function getCertificate(
  host: Needs,
  services: Judging,
  visible: Visibility,
  certificateId: string,
): Promise<CertificateView> {
  const record = await readCertificate(host.store, visible, certificateId);
  return viewOf(host, services, record, await suiteNow(host, visible, record.suiteId));
}

/** The highest version: what would be evaluated with today. */
async function suiteNow({ store }: Needs, { tenant }: Visibility, suiteId: string) {
  return (await suiteIfThere({ store }, tenant, suiteId))?.suite;
}

function viewOf(
  { nowMs }: Needs,
  { judge }: Judging,
  record: CertificateRecord,
  suite: AgentEvalSuite | undefined,
): CertificateView {
  const problems = [...problemsNow(nowMs(), judge, record, suite)];
  return { ...record, valid: problems.length === 0, problems };
}

function problemsNow(
  nowMs: number,
  judge: EvalServices["judge"],
  record: CertificateRecord,
  suite: AgentEvalSuite | undefined,
) {
  if (judge === undefined) {
    return [{ code: "judge_missing" as const, problem: "No judge is configured here." }];
  }
  const recorded = recordedJudge(judge);
  if (!recorded.versioned) return [UNVERSIONED];
  if (suite === undefined) return [{ code: "rubric_changed" as const, problem: "The suite is no longer here." }];
  return problemsOf(record, hashesOf(recorded, suite), nowMs, {});
}
