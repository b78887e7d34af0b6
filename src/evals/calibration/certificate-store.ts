import { AppError } from "../../protocol/errors.ts";
import { CertificateRecord } from "../../protocol/evals/judge-certificate-api.ts";
import { isId } from "../../protocol/id.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { matches } from "../../protocol/schema.ts";
import type { Document, Documents } from "../../store/port/documents.ts";

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
    ...(workspace === undefined ? {} : { workspace }),
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

const PAGE = 200;

/** Newest first. A tenant calibrates now and then, so there are few of them. */
export async function allCertificates(
  store: Pick<Documents, "listDocuments">,
  { tenant, workspace }: Visibility,
  suiteId?: string,
): Promise<CertificateRecord[]> {
  const all: CertificateRecord[] = [];
  let after: string | undefined;
  for (;;) {
    const query = { prefix: prefixOf(workspace), limit: PAGE, ...(after === undefined ? {} : { after }) };
    const page = await store.listDocuments(tenant, "certificate", query);
    for (const document of page) {
      const record = recordOf(document);
      if (record !== undefined && (suiteId ?? record.suiteId) === record.suiteId) all.push(record);
    }
    after = page.at(-1)?.key;
    if (page.length < PAGE) return all.reverse();
  }
}

function recordOf({ body }: Document): CertificateRecord | undefined {
  const value: unknown = JSON.parse(body);
  return matches(CertificateRecord, value) ? value : undefined;
}
