import { auditDraft, refused } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import type { SuiteRecord } from "../../protocol/evals/suite-api.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Document, DocumentWrite } from "../../store/port/documents.ts";
import type { UsableSuite } from "./load-suite.ts";
import { currentSuite, infoKey, textKey } from "./stored-suite.ts";
import { type PlannedSuite, plannedRef, refText } from "./suite-ref.ts";
import { putSuite, readSuite, refuseShadow } from "./suite-store.ts";

type Needs = Pick<Host, "store" | "nowMs" | "scrubber">;

/**
 * Keeps a draft of a suite on a local database: it replaces the suite of the same name. The replaced text stays under its hash,
 * for the evaluations that were made with it. A server never does this.
 */
export async function keepDraft(host: Needs, caller: Caller, loaded: UsableSuite): Promise<"kept" | "replaced"> {
  const ref = refText(loaded.suite);
  await refuseShadow(host.store, loaded);
  const current = await currentSuite(host.store, caller.tenant, ref);
  if (current === undefined || current.sha256 === loaded.sha256) {
    await putSuite(host, { caller, ref, bytes: Buffer.from(loaded.text) });
    return "kept";
  }
  const { tenant } = caller;
  const [info, text] = await Promise.all(
    [infoKey(ref), textKey(ref)].map((key) => host.store.readDocument({ tenant, kind: "suite", key })),
  );
  if (info === undefined || text === undefined) throw new AppError("not_found", { what: "suite", suite: ref });
  const atMs = host.nowMs();
  const { tasks, modes, targetAgentId } = loaded.suite;
  const { targetAgentId: _, ...before } = JSON.parse(info.body) as SuiteRecord;
  const record: SuiteRecord = {
    ...before,
    sha256: loaded.sha256,
    taskCount: tasks.length,
    modes,
    ...defined({ targetAgentId }),
    registeredBy: caller.principal,
    registeredAt: new Date(atMs).toISOString(),
  };
  const put = (document: Document, body: string): DocumentWrite => ({
    type: "put",
    document: { ...document, body, atMs, revision: document.revision + 1 },
  });
  const old: Document = { ...text, key: draftKey(ref, current.sha256), revision: 1 };
  const details = { sha256: loaded.sha256, before: current.sha256, tasks: tasks.length };
  const committed = await host.store.commit({
    tenant,
    documents: [put(info, JSON.stringify(record)), put(text, loaded.text), { type: "keep", document: old }],
    audit: [auditDraft(caller, atMs, ref, { action: "suite.replaced", details })],
  });
  if (!committed.ok) throw refused(committed.refusal);
  return "replaced";
}

function draftKey(ref: string, sha256: string): string {
  return `${textKey(ref)}#${sha256}`;
}

/** The suite that an evaluation was made with, also when it was replaced since, or the host has one under its name by now. */
export async function suiteAsOf(
  host: Pick<Host, "store">,
  tenant: string,
  planned: PlannedSuite,
): Promise<AgentEvalSuite> {
  const { suiteSha256: sha256 } = planned;
  const ref = plannedRef(planned);
  const { suite, info } = await readSuite(host, tenant, ref);
  if (info.sha256 === sha256) return suite;
  const own = await currentSuite(host.store, tenant, ref);
  const key = own?.sha256 === sha256 ? textKey(ref) : draftKey(ref, sha256);
  const found = await host.store.readDocument({ tenant, kind: "suite", key });
  if (found !== undefined) return JSON.parse(found.body) as AgentEvalSuite;
  throw new AppError("not_found", { what: "suite", suite: ref, sha256 });
}
