import { type AnyCommand, type Arg, choice, command, integer, list, text, toggle } from "../program/command.ts";

const QUEUE: Arg = { name: "QUEUE", summary: "The name of a queue, or its id (que-…), as `queue list` prints them." };
const ITEM: Arg = { name: "ITEM", summary: "The id of an item (itm-…), as `queue next` and `queue items` print it." };
const VALUE: Arg = { name: "VALUE", summary: "What the queue asks for: 1 to 5, one of its labels, or yes or no." };

const queues = () => import("./queues.ts");
const items = () => import("./items.ts");

/** Which runs, what is asked about them, and who judges. */
export const QUEUE_CREATE_FLAGS = {
  description: text("TEXT", "What reviewers should know."),
  labels: list("A,B,…", "Ask for one of these labels. Ratings from 1 to 5 unless given."),
  yesNo: toggle("Ask whether the run is to be flagged."),
  reviewers: integer("N", 1, "How many have to judge each item; 1 unless given."),
  blind: toggle("Hide judgments from reviewers who have yet to judge; default with two or more."),
  notBlind: toggle("Show reviewers each other's judgments from the start."),
  assign: list("NAME", "A reviewer; unless given, anyone who may annotate. Repeatable."),
  assignRole: list("ROLE", "People with this role are reviewers. Repeatable."),
  assignGroup: list("GROUP", "Members of this group are reviewers. Repeatable."),
  adjudicator: list("NAME", "May settle disagreement, as admins may. Repeatable."),
  maxSpread: integer("N", 0, "How far apart ratings may be and still agree; 0 unless given."),
  noteRequired: toggle("Require a note with every judgment."),
  correction: choice(
    "WHEN",
    ["off", "optional", "required"],
    "Whether reviewers give the correct output: off, optional or required.",
  ),
  lease: integer("SECONDS", 1, "How long an item is kept for a reviewer; 900 unless given."),
  workflow: text("ID", "Take in runs of this workflow."),
  agent: text("ID", "Take in runs of this agent."),
  status: choice(
    "STATUS",
    ["completed", "failed", "cancelled"],
    "Take in runs with this status: completed, failed or cancelled.",
  ),
  node: text("ID", "Judge this node of each run instead of the whole run; needs --workflow."),
  flagged: toggle("Take in runs with an open flag."),
  withLabel: text("LABEL", "Take in runs with this label."),
  ratedAtMost: integer("N", 1, "Take in runs with a rating of N or lower."),
  from: text("TIME", "Only what is no older: an instant, a day, or how long ago, such as 7d."),
  sample: text("SHARE", "Take in a share of them, such as 0.1; always the same runs."),
};

export const QUEUE_ITEMS_FLAGS = {
  state: choice("STATE", ["open", "disputed", "done", "closed"], "Only items that are open, disputed, done or closed."),
  reviewer: text("NAME", "Only items that this reviewer holds, judged or skipped."),
  review: choice(
    "WHAT",
    ["leased", "judged", "skipped"],
    "Only items that were leased, judged or skipped, by that reviewer or by any.",
  ),
  limit: integer("N", 1, "How many; 50 unless given."),
};

export const QUEUE_ADD_FLAGS = {
  node: text("ID", "Judge this node of each run instead of the whole run."),
  event: text("ID", "Judge this event of the run, such as the score of a task."),
};

export const QUEUE_NEXT_FLAGS = {
  lease: integer("SECONDS", 1, "How long the item is kept for you; the lease of the queue unless given."),
};

export const QUEUE_ADJUDICATE_FLAGS = {
  note: text("TEXT", "Why; kept with the judgment."),
  correction: text("TEXT|@FILE", "The correct output, where the queue takes corrections."),
};

export const QUEUE_JUDGE_FLAGS = {
  ...QUEUE_ADJUDICATE_FLAGS,
  confidence: text("0..1", "How sure an agent is; people leave it out."),
  revise: toggle("Replace your own judgment."),
};

export const QUEUE_REASON_FLAGS = {
  reason: text("TEXT", "Why; kept with the item."),
};

export const QUEUE_AGREEMENT_FLAGS = {
  agents: toggle("Also the figures of agents: apart, and together with people."),
};

export const QUEUE_COMMANDS: readonly AnyCommand[] = [
  command({
    name: "queue create",
    summary: "Create a review queue: which runs, what is asked about each, and of how many reviewers.",
    about: "Without a query (--workflow … --sample) runs are added by hand, with `queue add`.",
    args: [{ name: "NAME", summary: "Its name, unique in the workspace." }],
    flags: QUEUE_CREATE_FLAGS,
    examples: [
      "assay queue create weekly --workflow support --sample 0.1 --reviewers 2",
      "assay queue create tone --workflow support --labels polite,rude --reviewers 2 --adjudicator ada",
      "assay queue create second-look --flagged --yes-no --assign ana,ben --note-required",
    ],
    load: async () => (await queues()).queueCreate,
  }),
  command({
    name: "queue list",
    summary: "List review queues.",
    examples: ["assay queue list"],
    load: async () => (await queues()).queueList,
  }),
  command({
    name: "queue show",
    summary: "Show the rules of a queue, what is in it, and what each reviewer has done.",
    args: [QUEUE],
    examples: ["assay queue show weekly"],
    load: async () => (await queues()).queueShow,
  }),
  command({
    name: "queue items",
    summary: "List the items of a queue, oldest first.",
    args: [QUEUE],
    flags: QUEUE_ITEMS_FLAGS,
    examples: ["assay queue items weekly --state disputed", "assay queue items weekly --review skipped --state open"],
    load: async () => (await items()).queueItems,
  }),
  command({
    name: "queue add",
    summary: "Add runs to a queue by hand; runs that are in it already are left alone.",
    args: [QUEUE, { name: "RUN", summary: "The id of a run, as `run list` prints it.", many: true }],
    flags: QUEUE_ADD_FLAGS,
    examples: ["assay queue add weekly run-01k4… run-01k5…"],
    load: async () => (await items()).queueAdd,
  }),
  command({
    name: "queue next",
    summary: "Get an item to judge: the one you hold already, else the oldest that waits for you.",
    args: [QUEUE],
    flags: QUEUE_NEXT_FLAGS,
    examples: ["assay queue next weekly", "assay queue next weekly --json"],
    exits: { 0: "an item is yours", 1: "there is nothing for you in the queue now" },
    load: async () => (await items()).queueNext,
  }),
  command({
    name: "queue judge",
    summary: "Judge an item; the judgment is an annotation of its run like any other.",
    args: [QUEUE, ITEM, VALUE],
    flags: QUEUE_JUDGE_FLAGS,
    examples: ["assay queue judge weekly itm-01k4… 4", 'assay queue judge tone itm-01k4… rude --note "sarcasm"'],
    exits: {
      0: "the judgment counts",
      2: "the item has all its judgments, you have judged it before, or the queue asks for something else",
    },
    load: async () => (await items()).queueJudge,
  }),
  command({
    name: "queue skip",
    summary: "Leave an item to other reviewers; it is not offered to you again. Needs --reason.",
    args: [QUEUE, ITEM],
    flags: QUEUE_REASON_FLAGS,
    examples: ['assay queue skip weekly itm-01k4… --reason "I wrote the prompt"'],
    load: async () => (await items()).queueSkip,
  }),
  command({
    name: "queue requeue",
    summary: "Offer an item again: an open one also to those who skipped or hold it; a settled one in another round.",
    args: [QUEUE, ITEM],
    flags: QUEUE_REASON_FLAGS,
    examples: ["assay queue requeue weekly itm-01k4…"],
    load: async () => (await items()).queueRequeue,
  }),
  command({
    name: "queue drop",
    summary: "Take an item out of a queue unsettled; `queue requeue` brings it back. Needs --reason.",
    args: [QUEUE, ITEM],
    flags: QUEUE_REASON_FLAGS,
    examples: ['assay queue drop weekly itm-01k4… --reason "a test run"'],
    load: async () => (await items()).queueDrop,
  }),
  command({
    name: "queue adjudicate",
    summary: "Settle an item that reviewers disagree on.",
    args: [QUEUE, ITEM, VALUE],
    flags: QUEUE_ADJUDICATE_FLAGS,
    examples: ['assay queue adjudicate tone itm-01k4… rude --note "see the second answer"'],
    load: async () => (await items()).queueAdjudicate,
  }),
  command({
    name: "queue agreement",
    summary: "Show how far the reviewers of a queue agree.",
    args: [QUEUE],
    flags: QUEUE_AGREEMENT_FLAGS,
    examples: ["assay queue agreement weekly", "assay queue agreement weekly --agents --json"],
    load: async () => (await import("./agreement.ts")).queueAgreement,
  }),
  command({
    name: "queue close",
    summary: "Close a queue: it takes nothing in, and offers nothing; what is in it stays.",
    args: [QUEUE],
    examples: ["assay queue close weekly"],
    load: async () => (await queues()).queueClose,
  }),
  command({
    name: "queue open",
    summary: "Open a closed queue again.",
    args: [QUEUE],
    examples: ["assay queue open weekly"],
    load: async () => (await queues()).queueOpen,
  }),
  command({
    name: "queue work",
    summary: "Work through a queue on the terminal, one item after the other.",
    args: [QUEUE],
    about:
      "Shows the run and asks for a judgment: 1 to 5, the number of a label, or y and n; text after it is the note. " +
      "s REASON skips, q gives the item back and ends.",
    examples: ["assay queue work weekly"],
    load: async () => (await import("./work.ts")).queueWork,
  }),
];
