import { closestTo } from "../../protocol/closest-to.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import type { InterruptView, ResolveInterruptResponse, VoteBinding } from "../../protocol/gates/api.ts";
import type { DecideResponse } from "../../protocol/gates/inbox-api.ts";
import { APPROVAL_ACTIONS, titleOf } from "../../protocol/gates/interrupt.ts";
import { type Client, connect, errorFrom } from "../client/client.ts";
import { assignments, type JsonObject, jsonObject, jsonValue } from "../files/arguments.ts";
import { branchNote } from "../output/describe-gate-event.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { firstLines } from "../output/table.ts";
import type { Call, FlagValues } from "../program/command.ts";
import { appErrorLine } from "../program/error-line.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { RESOLVE_FLAGS } from "./commands.ts";

type ResolveFlags = FlagValues<typeof RESOLVE_FLAGS>;

export async function resolve({ args, flags, json, config, io }: Call<typeof RESOLVE_FLAGS>): Promise<number> {
  const target = targetOf(args);
  const value = resumeValue(target.action, flags);
  const client = connect(config);
  let answer: ResolveInterruptResponse;
  try {
    const gate = await readGate(client, target.of);
    if (gate !== undefined && io.errIsTerminal) io.err(gateText(gate));
    answer = await send(client, target.of, value, bindingOf(gate, flags));
  } catch (error) {
    if (!(error instanceof AppError) || !TOO_LATE.has(error.code)) throw error;
    io.err(appErrorLine(error, json));
    return EXIT.negative;
  }
  if (json) io.out(JSON.stringify(answer));
  else describe(answer, io);
  return EXIT.fine;
}

/** Errors of an answer that was valid and came too late. */
const TOO_LATE: ReadonlySet<string> = new Set([
  "interrupt_already_resolved",
  "interrupt_expired",
  "interrupt_gone",
  "interrupt_cancelled",
  "vote_conflict",
  "vote_not_bound",
]);

type GateName = { readonly interruptId: string } | { readonly runId: string; readonly nodeId: string };

interface Target {
  readonly of: GateName;
  readonly action: string | undefined;
}

function targetOf([first = "", ...rest]: readonly string[]): Target {
  if (first.startsWith("int-")) {
    const [action, more] = rest;
    if (more === undefined) return { of: { interruptId: first }, action };
    throw unusableInput(`${first} names an interrupt; leave out the node after it`);
  }
  const [nodeId, action] = rest;
  if (nodeId !== undefined) return { of: { runId: first, nodeId }, action };
  const problem = `${first} is not the id of an interrupt; for a run, name its node as well: assay resolve RUN NODE ACTION`;
  throw unusableInput(problem);
}

async function send(
  client: Client,
  of: GateName,
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

/** Errors of reading a gate that do not prevent the vote: a key may be allowed to vote and not to read. */
const UNREAD: ReadonlySet<string> = new Set(["forbidden", "not_found"]);

/** The interrupt to answer; undefined where the key may not read it, or the server is older. */
async function readGate(client: Client, of: GateName): Promise<InterruptView | undefined> {
  try {
    if ("interruptId" in of) return await client.gates.get(of.interruptId);
    const { interrupts = [] } = await client.runs.get(of.runId);
    return interrupts.findLast(({ nodeId }) => nodeId === of.nodeId);
  } catch (error) {
    if (error instanceof AppError && UNREAD.has(error.code)) return undefined;
    throw error;
  }
}

/** Binds the vote to the revision and digest in the flags, else to those that were just read. */
function bindingOf(
  gate: InterruptView | undefined,
  { revision = gate?.revision, artifactDigest = gate?.artifactDigest }: ResolveFlags,
): VoteBinding {
  return defined({ interruptId: gate?.interruptId, revision, artifactDigest });
}

const LINES = 20;

const HIDDEN = "parts of this are kept secret: what is behind [REDACTED] goes on as it is, and no voter can read it";

/** The gate as the vote is bound to it. */
export function gateText(view: InterruptView): string {
  const { data, edited, revision = 0, artifactDigest = "", kind, nodeId } = view;
  const artifact = edited === undefined ? data["artifactData"] : edited.data;
  const title = titleOf({ kind, data, nodeId });
  const lines = artifact === undefined ? [] : JSON.stringify(artifact, null, 2).split("\n");
  const note = branchNote(data);
  const heading = [
    `${title} (revision ${revision}, ${artifactDigest.slice(0, 12)})`,
    ...(note === undefined ? [] : [note]),
    ...(view.hidden === true ? [HIDDEN] : []),
  ];
  const shown = firstLines(lines, LINES, (left) => `… ${left} more lines`);
  return [...heading, ...shown].map(printable).join("\n");
}

const DECISIONS = ["granted", "rejected"] as const;
const ACTIONS: readonly string[] = [...APPROVAL_ACTIONS, ...DECISIONS];

/** The `resumeValue` of the request for an action and its flags. Throws `unusable_input` where they do not go together. */
export function resumeValue(action: string | undefined, flags: ResolveFlags): unknown {
  if (action !== undefined) return decision(action, flags);
  const [stray] = GATE_FLAGS.filter((name) => flags[name] !== undefined && flags[name] !== false);
  if (stray !== undefined) refuse(`--${stray} goes with an action: ${ACTIONS.join(", ")}`);
  if (flags.answer.length > 0) {
    if (flags.value !== undefined) refuse("--answer and --value are two ways to answer; use one");
    return { answers: assignments(flags.answer, "--answer") };
  }
  if (flags.value !== undefined) return jsonValue(flags.value, "--value");
  return refuse(`say what to answer: an action (${ACTIONS.join(", ")}), --answer ID=VALUE, or --value JSON`);
}

const GATE_FLAGS = ["reason", "feedback", "override", "edited", "question", "voter"] as const;

function decision(action: string, flags: ResolveFlags): JsonObject {
  const { reason, feedback, voter, override } = flags;
  if (!ACTIONS.includes(action)) {
    const near = closestTo(action, ACTIONS);
    refuse(`there is no action ${action}; use ${near ?? `one of ${ACTIONS.join(", ")}`}`);
  }
  if (flags.answer.length > 0) refuse("--answer is for questions, which take no action");
  const isDecision = DECISIONS.some((one) => one === action);
  return {
    ...(flags.value === undefined ? {} : jsonObject(flags.value, "--value")),
    ...(isDecision ? { decision: action } : { action }),
    ...companionOf(action, flags),
    ...defined({
      reason,
      feedback: action === "refine" ? undefined : feedback,
      voter,
      override: override || undefined,
    }),
  };
}

/** The field that an action requires. */
function companionOf(action: string, { edited, question, feedback }: ResolveFlags): JsonObject {
  if (edited !== undefined && action !== "edit-accept") refuse("--edited goes with edit-accept");
  if (question !== undefined && action !== "ask") refuse("--question goes with ask");
  switch (action) {
    case "edit-accept":
      return {
        editedArtifactData: jsonValue(edited ?? missing("edit-accept", "--edited JSON or --edited @FILE"), "--edited"),
      };
    case "ask":
      return { question: question ?? missing("ask", "--question TEXT") };
    case "refine":
      return { refineFeedback: { scope: "whole", text: feedback ?? missing("refine", "--feedback TEXT") } };
    default:
      return {};
  }
}

function missing(action: string, flag: string): never {
  return refuse(`${action} needs ${flag}`);
}

function refuse(problem: string): never {
  throw unusableInput(problem);
}
