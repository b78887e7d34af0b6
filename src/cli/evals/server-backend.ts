import { refText } from "../../evals/suite/suite-ref.ts";
import { type Client, type ClientSettings, connect } from "../client/client.ts";
import { agentIds } from "../program/nearest-name.ts";
import { followRun } from "../runs/follow-run.ts";
import type { EvalBackend } from "./eval-backend.ts";

/** Evaluations on a server, which goes on by itself with what was interrupted. */
export function serverBackend(settings: ClientSettings): EvalBackend {
  const client = connect(settings);
  return {
    client,
    keepSuite: async ({ suite, text }) => {
      await client.suites.put(refText(suite), text);
      return undefined;
    },
    agentIds: () => agentIds(client),
    goOn: async () => {},
    untilEnded: (runId, onScored, signal) => untilEnded(client, runId, onScored, signal),
    afterInterrupt: "goes on",
    isInterrupted: async () => false,
    close: async () => {},
  };
}

async function untilEnded(
  client: Client,
  runId: string,
  onScored: ((scored: number) => void) | undefined,
  signal: AbortSignal,
): Promise<void> {
  let scored = 0;
  const onEvent = ({ type }: { type: string }) => {
    if (type !== "eval.scored") return;
    scored += 1;
    onScored?.(scored);
  };
  await followRun(client, { runId, mode: "updates", onEvent, signal });
  signal.throwIfAborted();
}
