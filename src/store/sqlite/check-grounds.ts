import type { Ground } from "../../protocol/promotion/evidence.ts";
import type { Refusal } from "../port/store.ts";
import type { Statements } from "./statements.ts";

/** Whether what a unit rests on is as it was read. */
export function checkGrounds(
  tenant: string,
  grounds: readonly Ground[],
  { runHead, judgedSince }: Statements,
): Refusal | undefined {
  for (const { runId, version: wanted, judgedUpTo } of grounds) {
    const head = runHead.get(runId) as { readonly version: number; readonly tenant: string } | undefined;
    const version = head?.tenant === tenant ? head.version : 0;
    if (version !== wanted) return { type: "version", runId, version };
    if (judgedUpTo === undefined || judgedSince.get(tenant, judgedUpTo, runId) === undefined) continue;
    return { type: "ground", runId };
  }
  return undefined;
}
