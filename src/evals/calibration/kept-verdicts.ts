import type { Usage } from "../../agents/binding.ts";
import type { Document, Documents } from "../../store/port/documents.ts";
import type { JudgeFailure } from "../judge/judge.ts";

/** The judge's verdict on one output: a calibration that is resumed after a crash does not ask about these outputs again. */
export interface KeptVerdict {
  readonly itemId: string;
  readonly verdict?: "pass" | "fail";
  /** Set instead of a verdict. */
  readonly failure?: JudgeFailure;
  readonly usage: readonly Usage[];
}

const PAGE = 500;
const prefixOf = (runId: string): string => `${runId}/`;

export function verdictDocument(tenant: string, runId: string, atMs: number, kept: KeptVerdict): Document {
  return {
    tenant,
    kind: "calibration-verdict",
    key: `${prefixOf(runId)}${kept.itemId}`,
    runId,
    revision: 1,
    atMs,
    body: JSON.stringify(kept),
  };
}

export async function readVerdicts(
  store: Pick<Documents, "listDocuments">,
  tenant: string,
  runId: string,
): Promise<KeptVerdict[]> {
  const all: KeptVerdict[] = [];
  let after: string | undefined;
  for (;;) {
    const query = { prefix: prefixOf(runId), limit: PAGE, ...(after === undefined ? {} : { after }) };
    const page = await store.listDocuments(tenant, "calibration-verdict", query);
    for (const { body } of page) all.push(JSON.parse(body) as KeptVerdict);
    after = page.at(-1)?.key;
    if (page.length < PAGE) return all;
  }
}
