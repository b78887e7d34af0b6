import type { Host } from "../../engine/host.ts";
import { defined } from "../../protocol/defined.ts";
import { validationError } from "../../protocol/errors.ts";
import type { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import type { AddFromRequest } from "../../protocol/evals/suite-api.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { evalPlanOf } from "../run/eval-plan.ts";
import { loadSuite, requireSuite, SENT_SUITE_LIMITS } from "../suite/load-suite.ts";
import { listSuites, recordOf } from "../suite/stored-suite.ts";
import { parseSuiteRef, refText } from "../suite/suite-ref.ts";
import { suiteText as keptText, readSuite } from "../suite/suite-store.ts";
import type { RecordedCase } from "./recorded-case.ts";

export type TargetSuite =
  /** A suite of this host. */
  | {
      readonly type: "kept";
      readonly suite: AgentEvalSuite;
      readonly text: string;
      /** No version was named: the task goes to the highest one. */
      readonly highest: boolean;
    }
  /** A suite that is stored elsewhere, and only read here. */
  | { readonly type: "sent"; readonly suite: AgentEvalSuite; readonly text: string }
  | { readonly type: "new"; readonly suiteId: string };

/** The suite that was named; else that of the evaluation, or the one that was written for the agent. */
export async function targetSuiteFor(
  host: Host,
  caller: Caller,
  run: Run,
  { agentId }: RecordedCase,
  { suite, suiteText, newSuiteId }: AddFromRequest,
): Promise<TargetSuite> {
  if ([suite, suiteText, newSuiteId].filter((one) => one !== undefined).length > 1) {
    throw validationError("name one of suite, suiteText and newSuiteId");
  }
  if (newSuiteId !== undefined) {
    const current = await highestVersion(host, caller.tenant, newSuiteId);
    if (current === undefined) return { type: "new", suiteId: newSuiteId };
    throw validationError(`there is a suite ${newSuiteId}@${current} already; add the task to that one`);
  }
  if (suiteText !== undefined) {
    const loaded = requireSuite(
      loadSuite(Buffer.from(suiteText), { scrubber: host.scrubber, limits: SENT_SUITE_LIMITS }),
      "the suite",
    );
    return { type: "sent", suite: loaded.suite, text: loaded.text };
  }
  const ref = suite ?? evalPlanOf(run)?.suiteId ?? (await suiteFor(host, caller.tenant, agentId));
  const found = await readSuite(host, caller.tenant, ref);
  const highest = parseSuiteRef(ref).version === undefined;
  return { type: "kept", suite: found.suite, text: await keptText(host, caller.tenant, refText(found.info)), highest };
}

export async function highestVersion(host: Pick<Host, "store">, tenant: string, suiteId: string) {
  return (await recordOf(host.store, tenant, { suiteId }))?.version;
}

const PAGE = 200;

async function suiteFor(host: Host, tenant: string, agentId: string | undefined): Promise<string> {
  const ids = new Set<string>();
  for (let cursor: string | undefined; ; ) {
    const page = await listSuites(host, tenant, { limit: PAGE, ...defined({ cursor }) });
    for (const info of page.suites) if (agentId !== undefined && info.targetAgentId === agentId) ids.add(info.suiteId);
    cursor = page.nextCursor;
    if (cursor === undefined) break;
  }
  const [only] = ids;
  if (only !== undefined && ids.size === 1) return only;
  const found = ids.size === 0 ? "no suite here is" : `${[...ids].slice(0, 5).join(", ")} are all`;
  throw validationError(
    `${found} written for ${agentId ?? "this agent"}; say which suite the task goes to: --to SUITE`,
  );
}
