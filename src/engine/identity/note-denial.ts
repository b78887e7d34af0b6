import { AppError } from "../../protocol/errors.ts";
import type { Voter } from "../../protocol/gates/gate-rules.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import { execute } from "../execute.ts";
import { findInterrupt } from "../gates/decide/resolve-interrupt.ts";
import { denied } from "../gates/decide/vote.ts";
import type { Host } from "../host.ts";

/**
 * Somebody without the scope wanted to answer an interrupt. Where they may see the run, its log says so; the audit chain
 * was told already. The answer is no in any case, so trouble in writing it down is only reported.
 */
export async function noteDenial(
  host: Host,
  caller: Caller,
  { runId, nodeId }: { readonly runId: string; readonly nodeId: string },
  problem: string,
): Promise<void> {
  const answerer: Voter = {
    principal: caller.principal,
    kind: caller.kind,
    roles: [],
    groups: [],
    grants: () => false,
  };
  try {
    await execute(host, {
      caller,
      runId,
      decide: (run) => {
        const interrupt = findInterrupt(run, { nodeId });
        return interrupt?.status === "open" ? denied(interrupt, answerer, problem).events : [];
      },
      result: () => undefined,
      record: () => undefined,
    });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
}
