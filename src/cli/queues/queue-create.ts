import { AppError } from "../../protocol/errors.ts";
import type { CreateQueueRequest, PrincipalSelector, QueueJudgment, QueueQuery } from "../../protocol/queues/api.ts";
import { connect } from "../client/client.ts";
import { instantArgument, split } from "../files/arguments.ts";
import { showQueue } from "../output/describe-queue.ts";
import type { Call, FlagValues } from "../program/command.ts";
import type { QUEUE_CREATE_FLAGS } from "./queue-create-commands.ts";

type Given = FlagValues<typeof QUEUE_CREATE_FLAGS>;

export async function queueCreate(call: Call<typeof QUEUE_CREATE_FLAGS>): Promise<undefined> {
  const { args, flags, json, config, io } = call;
  const [name = ""] = args;
  const body = queueRequest(name, flags, Date.now());
  const queue = await connect(config).queues.create(body);
  io.out(json ? JSON.stringify(queue) : showQueue(queue, io.paint));
}

export function queueRequest(name: string, flags: Given, nowMs: number): CreateQueueRequest {
  const { description, reviewers, maxSpread, noteRequired, lease, assign, assignRole, assignGroup, adjudicator } =
    flags;
  if (flags.blind && flags.notBlind) refuse("--blind and --not-blind are two things; give one");
  const query = queryOf(flags, nowMs);
  const people = somebody({ people: split(assign), roles: split(assignRole), groups: split(assignGroup) });
  const adjudicators = somebody({ people: split(adjudicator), roles: [], groups: [] });
  return compact({
    name,
    description,
    judgment: judgmentOf(flags),
    query,
    reviewersRequired: reviewers,
    blind: flags.blind ? true : flags.notBlind ? false : undefined,
    assign: people,
    adjudicators,
    maxSpread,
    noteRequired: noteRequired ? true : undefined,
    correction: flags.correction,
    leaseSeconds: lease,
  }) as CreateQueueRequest;
}

function judgmentOf({ labels, yesNo }: Given): QueueJudgment {
  const names = split(labels);
  if (names.length > 0 && yesNo) refuse("--labels and --yes-no are two things; give one");
  return yesNo ? { kind: "flag" } : names.length > 0 ? { kind: "label", labels: names } : { kind: "rating" };
}

/** Undefined when no run was asked for: then they are added by hand. */
function queryOf(flags: Given, nowMs: number): QueueQuery | undefined {
  const { workflow, agent, status, node, flagged, withLabel, ratedAtMost, from, sample } = flags;
  const query = compact({
    workflowId: workflow,
    agentId: agent,
    status,
    nodeId: node,
    flagged: flagged ? true : undefined,
    label: withLabel,
    ratingMax: ratedAtMost,
    from: instantArgument("--from", from, nowMs),
    sample: sample === undefined ? undefined : shareOf(sample),
  });
  return Object.keys(query).length === 0 ? undefined : (query as QueueQuery);
}

function shareOf(text: string): number {
  const share = /^(0?\.\d+|1(\.0+)?)$/.test(text) ? Number(text) : 0;
  return share > 0 ? share : refuse(`--sample ${text} must be a share such as 0.1, above 0 and at most 1`);
}

function somebody(given: Required<PrincipalSelector>): PrincipalSelector | undefined {
  const named = Object.entries(given).filter(([, names]) => names.length > 0);
  return named.length === 0 ? undefined : Object.fromEntries(named);
}

function compact(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function refuse(problem: string): never {
  throw new AppError("unusable_input", { problem });
}
