import { defined } from "../../protocol/defined.ts";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import { isId } from "../../protocol/id.ts";
import type {
  CreateQueueRequest,
  JudgmentValue,
  PrincipalSelector,
  QueueInfo,
  QueueJudgment,
  QueueQuery,
  QueueView,
} from "../../protocol/queues/api.ts";
import { type Client, connect } from "../client/client.ts";
import { instantArgument, split } from "../files/arguments.ts";
import { askedFor, showQueue, takesIn } from "../output/describe-queue.ts";
import { printable, shorten } from "../output/printable.ts";
import { printList } from "../output/table.ts";
import type { Call, FlagValues } from "../program/command.ts";
import type { QUEUE_CREATE_FLAGS } from "./commands.ts";

type CreateFlags = FlagValues<typeof QUEUE_CREATE_FLAGS>;

export async function queueCreate({
  args: [name = ""],
  flags,
  ...call
}: Call<typeof QUEUE_CREATE_FLAGS>): Promise<undefined> {
  print(call, await connect(call.config).queues.create(createRequest(name, flags, Date.now())));
}

function createRequest(name: string, flags: CreateFlags, nowMs: number): CreateQueueRequest {
  const { description, reviewers, maxSpread, noteRequired, correction, lease } = flags;
  if (flags.blind && flags.notBlind) throw unusableInput("--blind and --not-blind are two things; give one");
  return defined({
    name,
    description,
    judgment: judgmentOf(flags),
    query: queryOf(flags, nowMs),
    reviewersRequired: reviewers,
    blind: flags.blind ? true : flags.notBlind ? false : undefined,
    assign: selectorOf({ people: flags.assign, roles: flags.assignRole, groups: flags.assignGroup }),
    adjudicators: selectorOf({ people: flags.adjudicator }),
    maxSpread,
    noteRequired: noteRequired || undefined,
    correction,
    leaseSeconds: lease,
  });
}

function judgmentOf({ labels, yesNo }: CreateFlags): QueueJudgment {
  const names = split(labels);
  if (names.length > 0 && yesNo) throw unusableInput("--labels and --yes-no are two things; give one");
  return yesNo ? { kind: "flag" } : names.length > 0 ? { kind: "label", labels: names } : { kind: "rating" };
}

/** Undefined when no flag asks for runs: then they are added by hand. */
function queryOf(flags: CreateFlags, nowMs: number): QueueQuery | undefined {
  const query = defined({
    workflowId: flags.workflow,
    agentId: flags.agent,
    status: flags.status,
    nodeId: flags.node,
    flagged: flags.flagged || undefined,
    label: flags.withLabel,
    ratingMax: flags.ratedAtMost,
    from: instantArgument("--from", flags.from, nowMs),
    sample: flags.sample === undefined ? undefined : shareOf(flags.sample),
  });
  return Object.keys(query).length === 0 ? undefined : query;
}

function shareOf(text: string): number {
  const share = /^(0?\.\d+|1(\.0+)?)$/.test(text) ? Number(text) : 0;
  if (share > 0) return share;
  throw unusableInput(`--sample ${text} must be a share such as 0.1, above 0 and at most 1`);
}

function selectorOf(flags: Readonly<Record<string, readonly string[]>>): PrincipalSelector | undefined {
  const named = Object.entries(flags).map(([kind, names]) => [kind, split(names)] as const);
  const given = named.filter(([, names]) => names.length > 0);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

const TEXT_WIDTH = 50;

export async function queueList(call: Call): Promise<undefined> {
  const queues = await connect(call.config).queues.list({ limit: 200 }).all();
  const { paint } = call.io;
  const answer = { queues };
  printList(call, queues, answer, {
    empty: "No review queues yet. Create one with: assay queue create NAME --workflow ID",
    headings: ["NAME", "STATE", "REVIEWERS", "ASKS FOR", "TAKES IN", "QUEUE"],
    row: (queue) => [
      printable(queue.name),
      queue.state === "open" ? paint.green("open") : paint.yellow("closed"),
      String(queue.reviewersRequired),
      shorten(printable(askedFor(queue.judgment)), TEXT_WIDTH),
      shorten(takesIn(queue.query), TEXT_WIDTH),
      queue.queueId,
    ],
  });
}

export async function queueShow(call: Call): Promise<undefined> {
  const { client, queue } = await namedQueue(call);
  print(call, await client.queues.get(queue.queueId));
}

export const queueClose = (call: Call): Promise<undefined> => setState(call, "closed");
export const queueOpen = (call: Call): Promise<undefined> => setState(call, "open");

async function setState(call: Call, state: QueueView["state"]): Promise<undefined> {
  const { client, queue } = await namedQueue(call);
  print(call, await client.queues.update(queue.queueId, { revision: queue.revision, state }));
}

function print({ json, io }: Pick<Call, "json" | "io">, queue: QueueView): void {
  io.out(json ? JSON.stringify(queue) : showQueue(queue, io.paint));
}

/** The queue that the first argument of a command names, by id or by name, and the client of its server. */
export async function namedQueue({ args: [named = ""], config }: Pick<Call, "args" | "config">) {
  const client = connect(config);
  return { client, queue: await findQueue(client, named) };
}

async function findQueue({ queues }: Client, named: string): Promise<QueueInfo> {
  if (named.startsWith("que-") && isId(named)) return queues.get(named);
  for await (const queue of queues.list({ limit: 200 })) if (queue.name === named) return queue;
  throw new AppError("not_found", { what: `review queue called ${named}` });
}

const YES = ["yes", "y", "true"];
const NO = ["no", "n", "false"];

/** The judgment that a word stands for in a queue. Whether a label is one of the queue's is checked by the server. */
export function judgmentValue({ kind }: QueueJudgment, word: string): JudgmentValue {
  if (kind === "label") return word;
  if (kind === "rating") {
    if (/^[1-5]$/.test(word)) return Number(word);
    throw unusableInput(`this queue asks for a rating from 1 to 5, not ${word}`);
  }
  if (YES.includes(word)) return true;
  if (NO.includes(word)) return false;
  throw unusableInput(`this queue asks for yes (flag it) or no, not ${word}`);
}
