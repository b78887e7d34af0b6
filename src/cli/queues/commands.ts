import { type AnyCommand, type Arg, CLIENT, command, type Flags } from "../program/command.ts";
import { QUEUE_CREATE_FLAGS } from "./queue-create-commands.ts";

const QUEUE: Arg = { name: "QUEUE", summary: "The name of a queue, or its id (que-…), as `queue list` prints them." };
const ITEM: Arg = { name: "ITEM", summary: "The id of an item (itm-…), as `queue next` and `queue items` print it." };
const VALUE: Arg = { name: "VALUE", summary: "What the queue asks for: 1 to 5, one of its labels, or yes or no." };

const note = { type: "text", value: "TEXT", summary: "Why; kept with the judgment." } as const;
const correction = {
  type: "text",
  value: "TEXT|@FILE",
  summary: "What it should have been, where the queue takes corrections.",
} as const;

export const queueCreate = command({
  name: "queue create",
  summary: "Make a review queue: which runs, what to say about each, and by how many reviewers.",
  about: "Without a query (--workflow … --sample) runs are added by hand, with `queue add`.",
  args: [{ name: "NAME", summary: "What to call it; no two queues of a workspace have the same name." }],
  flags: QUEUE_CREATE_FLAGS,
  settings: CLIENT,
  examples: [
    "assay queue create weekly --workflow support --sample 0.1 --reviewers 2",
    "assay queue create tone --workflow support --labels polite,rude --reviewers 2 --adjudicator ada",
    "assay queue create second-look --flagged --yes-no --assign ana,ben --note-required",
  ],
  load: async () => (await import("./queue-create.ts")).queueCreate,
});

export const queueList = command({
  name: "queue list",
  summary: "List review queues.",
  args: [],
  flags: {},
  settings: CLIENT,
  examples: ["assay queue list"],
  load: async () => (await import("./queue-list.ts")).queueList,
});

export const queueShow = command({
  name: "queue show",
  summary: "Show the rules of a queue, what is in it, and what each reviewer has done.",
  args: [QUEUE],
  flags: {},
  settings: CLIENT,
  examples: ["assay queue show weekly"],
  load: async () => (await import("./queue-show.ts")).queueShow,
});

export const QUEUE_ITEMS_FLAGS = {
  state: {
    type: "text",
    value: "STATE",
    choices: ["open", "disputed", "done", "closed"],
    summary: "Only items that are open, disputed, done or closed.",
  },
  reviewer: { type: "text", value: "NAME", summary: "Only items that somebody holds, judged or skipped." },
  review: {
    type: "text",
    value: "WHAT",
    choices: ["leased", "judged", "skipped"],
    summary: "Only items that were leased, judged or skipped: by that reviewer, or by anybody.",
  },
  limit: { type: "integer", value: "N", min: 1, summary: "How many; 50 unless given." },
} as const satisfies Flags;

export const queueItems = command({
  name: "queue items",
  summary: "List the items of a queue, oldest first.",
  args: [QUEUE],
  flags: QUEUE_ITEMS_FLAGS,
  settings: CLIENT,
  examples: ["assay queue items weekly --state disputed", "assay queue items weekly --review skipped --state open"],
  load: async () => (await import("./queue-items.ts")).queueItems,
});

export const QUEUE_ADD_FLAGS = {
  node: { type: "text", value: "ID", summary: "Judge this node of each run instead of the whole run." },
  event: { type: "text", value: "ID", summary: "Judge this event of the run, such as the score of a task." },
} as const satisfies Flags;

export const queueAdd = command({
  name: "queue add",
  summary: "Add runs to a queue by hand; those it has already are passed over.",
  args: [QUEUE, { name: "RUN", summary: "The id of a run, as `run list` prints it.", many: true }],
  flags: QUEUE_ADD_FLAGS,
  settings: CLIENT,
  examples: ["assay queue add weekly run-01k4… run-01k5…"],
  load: async () => (await import("./queue-add.ts")).queueAdd,
});

export const QUEUE_NEXT_FLAGS = {
  lease: {
    type: "integer",
    value: "SECONDS",
    min: 1,
    summary: "How long it is kept for you; the queue's own time unless given.",
  },
} as const satisfies Flags;

export const queueNext = command({
  name: "queue next",
  summary: "Get an item to judge: the one you hold already, else the oldest that waits for you.",
  args: [QUEUE],
  flags: QUEUE_NEXT_FLAGS,
  settings: CLIENT,
  examples: ["assay queue next weekly", "assay queue next weekly --json"],
  exits: { 0: "an item is yours", 1: "there is nothing for you in the queue now" },
  load: async () => (await import("./queue-next.ts")).queueNext,
});

export const QUEUE_JUDGE_FLAGS = {
  note,
  correction,
  confidence: { type: "text", value: "0..1", summary: "How sure an agent is; people are not asked." },
  revise: { type: "switch", summary: "Replace your own judgment." },
} as const satisfies Flags;

export const queueJudge = command({
  name: "queue judge",
  summary: "Judge an item; it becomes an annotation of its run like any other.",
  args: [QUEUE, ITEM, VALUE],
  flags: QUEUE_JUDGE_FLAGS,
  settings: CLIENT,
  examples: ["assay queue judge weekly itm-01k4… 4", 'assay queue judge tone itm-01k4… rude --note "sarcasm"'],
  exits: {
    0: "the judgment counts",
    2: "the place is taken, you have judged it before, or the queue asks for something else",
  },
  load: async () => (await import("./queue-judge.ts")).queueJudge,
});

export const QUEUE_ADJUDICATE_FLAGS = { note, correction } as const satisfies Flags;

export const queueAdjudicate = command({
  name: "queue adjudicate",
  summary: "Settle an item that reviewers disagree on.",
  args: [QUEUE, ITEM, VALUE],
  flags: QUEUE_ADJUDICATE_FLAGS,
  settings: CLIENT,
  examples: ['assay queue adjudicate tone itm-01k4… rude --note "see the second answer"'],
  load: async () => (await import("./queue-judge.ts")).queueAdjudicate,
});

export const QUEUE_REASON_FLAGS = {
  reason: { type: "text", value: "TEXT", summary: "Why; kept with the item." },
} as const satisfies Flags;

export const queueSkip = command({
  name: "queue skip",
  summary: "Leave an item to others; --reason says why, and you are not offered it again.",
  args: [QUEUE, ITEM],
  flags: QUEUE_REASON_FLAGS,
  settings: CLIENT,
  examples: ['assay queue skip weekly itm-01k4… --reason "I wrote the prompt"'],
  load: async () => (await import("./queue-skip.ts")).queueSkip,
});

export const queueRequeue = command({
  name: "queue requeue",
  summary: "Offer an item anew: forgets who skipped or holds it; one that was settled begins another round.",
  args: [QUEUE, ITEM],
  flags: QUEUE_REASON_FLAGS,
  settings: CLIENT,
  examples: ["assay queue requeue weekly itm-01k4…"],
  load: async () => (await import("./queue-skip.ts")).queueRequeue,
});

export const queueDrop = command({
  name: "queue drop",
  summary: "Take an item out of a queue unsettled; --reason says why. `queue requeue` brings it back.",
  args: [QUEUE, ITEM],
  flags: QUEUE_REASON_FLAGS,
  settings: CLIENT,
  examples: ['assay queue drop weekly itm-01k4… --reason "a test run"'],
  load: async () => (await import("./queue-skip.ts")).queueDrop,
});

export const QUEUE_AGREEMENT_FLAGS = {
  agents: { type: "switch", summary: "Agents too: apart, and together with people." },
} as const satisfies Flags;

export const queueAgreement = command({
  name: "queue agreement",
  summary: "Show how far the reviewers of a queue agree.",
  args: [QUEUE],
  flags: QUEUE_AGREEMENT_FLAGS,
  settings: CLIENT,
  examples: ["assay queue agreement weekly", "assay queue agreement weekly --agents --json"],
  load: async () => (await import("./queue-agreement.ts")).queueAgreement,
});

export const queueClose = command({
  name: "queue close",
  summary: "Close a queue: nothing is taken in, offered or judged any more; what is there stays.",
  args: [QUEUE],
  flags: {},
  settings: CLIENT,
  examples: ["assay queue close weekly"],
  load: async () => (await import("./queue-close.ts")).queueClose,
});

export const queueOpen = command({
  name: "queue open",
  summary: "Open a queue again that was closed.",
  args: [QUEUE],
  flags: {},
  settings: CLIENT,
  examples: ["assay queue open weekly"],
  load: async () => (await import("./queue-close.ts")).queueOpen,
});

export const queueWork = command({
  name: "queue work",
  summary: "Work through a queue on the terminal, one item after the other.",
  about:
    "Shows the run and asks for a judgment: 1 to 5, the number of a label, or y and n; text after it is the note. " +
    "s REASON skips, q gives the item back and ends.",
  args: [QUEUE],
  flags: {},
  settings: CLIENT,
  examples: ["assay queue work weekly"],
  load: async () => (await import("./queue-work.ts")).queueWork,
});

export const QUEUE_COMMANDS: readonly AnyCommand[] = [
  queueCreate,
  queueList,
  queueShow,
  queueItems,
  queueAdd,
  queueNext,
  queueJudge,
  queueSkip,
  queueRequeue,
  queueDrop,
  queueAdjudicate,
  queueAgreement,
  queueClose,
  queueOpen,
  queueWork,
];
