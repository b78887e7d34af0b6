import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { DecideRequest, DecideResponse } from "../../protocol/gates/inbox-api.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Host } from "../host.ts";
import { resolveInterrupt } from "./resolve-interrupt.ts";

type Item = DecideRequest["items"][number];
type Result = DecideResponse["results"][number];

const RUNS_AT_ONCE = 16;

/** One result per item, in order, whatever happens to the others. Answers to one run are given one after the other. */
export async function decideInbox(host: Host, caller: Caller, { items }: DecideRequest): Promise<DecideResponse> {
  const found = await Promise.all(items.map(({ interruptId }) => host.store.readInterrupt(caller, interruptId)));
  const notFound = new AppError("interrupt_not_found");
  const results: Result[] = items.map(({ interruptId }) => failed(host, interruptId, notFound));
  const byRun = new Map<string, number[]>();
  for (const [i, row] of found.entries()) {
    if (row !== undefined) byRun.set(row.runId, [...(byRun.get(row.runId) ?? []), i]);
  }
  const runs = [...byRun];
  const work = async () => {
    for (let run = runs.shift(); run !== undefined; run = runs.shift()) {
      const [runId, places] = run;
      for (const i of places) results[i] = await decideOne(host, caller, runId, items[i] as Item);
    }
  };
  await Promise.all(Array.from({ length: RUNS_AT_ONCE }, work));
  return { results };
}

async function decideOne(
  host: Host,
  caller: Caller,
  runId: string,
  { interruptId, resumeValue: value, revision, artifactDigest }: Item,
): Promise<Result> {
  const record = () => undefined;
  const bound = defined({ interruptId, revision, artifactDigest });
  try {
    return {
      ok: true,
      ...(await resolveInterrupt(host, { caller, runId, of: { interruptId }, value, bound, record })),
    };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { ...failed(host, interruptId, error), runId };
  }
}

/** Cleaned like any other error: it says what the request asked for, and is kept under an idempotency key. */
function failed({ scrubber }: Host, interruptId: string, { code, message, details }: AppError): Result {
  return scrubber.scrubValue({ interruptId, ok: false, error: { error: code, message, details: { ...details } } });
}
