import { AppError } from "../../protocol/errors.ts";
import type { ResolveInterruptResponse, VoteBinding } from "../../protocol/gates/api.ts";
import type { DecideResponse } from "../../protocol/gates/inbox-api.ts";
import { type Client, connect, errorFrom } from "../client/client.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { appErrorLine } from "../program/error-line.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { RESOLVE_FLAGS } from "./commands.ts";
import { bindingOf, gateText, readGate } from "./read-gate.ts";
import { resumeValue } from "./resume-value.ts";

export async function resolve({ args, flags, json, config, io }: Call<typeof RESOLVE_FLAGS>): Promise<number> {
  const target = targetOf(args);
  const value = resumeValue(target.action, flags);
  const client = connect(config);
  let answer: ResolveInterruptResponse;
  try {
    const gate = await readGate(client, target);
    if (gate !== undefined && io.errIsTerminal) io.err(gateText(gate));
    answer = await send(client, target, value, bindingOf(gate, flags));
  } catch (error) {
    if (!(error instanceof AppError) || !TOO_LATE.has(error.code)) throw error;
    io.err(appErrorLine(error, json));
    return EXIT.negative;
  }
  if (json) io.out(JSON.stringify(answer));
  else describe(answer, io);
  return EXIT.fine;
}

/** The answer was a good one, and somebody or something else was first. */
const TOO_LATE: ReadonlySet<string> = new Set([
  "interrupt_already_resolved",
  "interrupt_expired",
  "interrupt_gone",
  "interrupt_cancelled",
  "vote_conflict",
  "vote_not_bound",
]);

export interface Target {
  readonly of: { readonly interruptId: string } | { readonly runId: string; readonly nodeId: string };
  readonly action: string | undefined;
}

function targetOf([first = "", ...rest]: readonly string[]): Target {
  if (first.startsWith("int-")) {
    const [action, more] = rest;
    if (more === undefined) return { of: { interruptId: first }, action };
    throw new AppError("unusable_input", { problem: `${first} names an interrupt; leave out the node after it` });
  }
  const [nodeId, action] = rest;
  if (nodeId !== undefined) return { of: { runId: first, nodeId }, action };
  const problem = `${first} is not the id of an interrupt; for a run, name its node as well: assay resolve RUN NODE ACTION`;
  throw new AppError("unusable_input", { problem });
}

async function send(
  client: Client,
  { of }: Target,
  value: unknown,
  binding: VoteBinding,
): Promise<ResolveInterruptResponse> {
  if ("runId" in of) {
    return client.gates.resolve(of.runId, of.nodeId, { resumeValue: value }, { query: binding });
  }
  const items = [{ ...binding, interruptId: of.interruptId, resumeValue: value }];
  const { results } = await client.gates.decide({ items });
  const [result] = results;
  if (result?.error !== undefined) throw errorFrom(result.error, "validation_error");
  const { ok: _, ...answer } = result as DecideResponse["results"][number];
  return answer as ResolveInterruptResponse;
}

function describe(answer: ResolveInterruptResponse, io: Io): void {
  const { interruptId, runId, resolved, outcome, status, tally, notCounted } = answer;
  if (resolved) {
    io.out(printable(`${interruptId} ${outcome ?? "resolved"}`));
    if (io.outIsTerminal) io.err(`The run is ${status}. Follow it with: assay run watch ${runId}`);
    return;
  }
  const votes = tally === undefined ? "" : ` ${tally.granted}/${tally.required}`;
  io.out(`${interruptId} open${votes}`);
  if (notCounted !== undefined) io.err(printable(`The vote is recorded and does not count: ${notCounted}.`));
  if (!io.outIsTerminal) return;
  const lacking = tally !== undefined && tally.granted >= tally.required ? " for people among those who grant" : "";
  io.err(`It is recorded, and the gate still waits${lacking}. See who else is to vote with: assay inbox`);
}
