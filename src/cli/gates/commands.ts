import { type AnyCommand, CLIENT, command, type Flags } from "../program/command.ts";

const workflow = { type: "text", value: "ID", summary: "Only gates of this workflow." } as const;

export const INBOX_FLAGS = {
  workflow,
  kind: {
    type: "text",
    value: "KIND",
    choices: ["approval", "clarification", "external-event", "custom", "low-confidence"],
    summary: "Only approval, clarification, external-event, custom or low-confidence.",
  },
  flagged: { type: "switch", summary: "Also runs that somebody flagged, until the flag is closed." },
  limit: { type: "integer", value: "N", min: 1, summary: "How many; 50 unless given." },
  watch: { type: "switch", summary: "Go on with what opens, changes and closes, until interrupted." },
} as const satisfies Flags;

export const inbox = command({
  name: "inbox",
  summary: "List what waits for a decision that you may make, oldest first.",
  about: "With --watch, a line for each change; with --json as well, one JSON object { event, data } per line.",
  args: [],
  flags: INBOX_FLAGS,
  settings: CLIENT,
  examples: [
    "assay inbox",
    "assay inbox --workflow release --kind approval",
    "assay inbox --flagged",
    "assay inbox --watch --json",
  ],
  load: async () => (await import("./inbox.ts")).inbox,
});

export const RESOLVE_FLAGS = {
  reason: { type: "text", value: "TEXT", summary: "Why; recorded with the vote. An override needs one." },
  feedback: { type: "text", value: "TEXT", summary: "What to change, or a remark; refine needs it." },
  override: { type: "switch", summary: "Take the override path of a governed gate." },
  edited: { type: "text", value: "JSON|@FILE", summary: "The artifact as you want it; edit-accept needs it." },
  question: { type: "text", value: "TEXT", summary: "What you want to know first; ask needs it." },
  answer: {
    type: "list",
    value: "ID=VALUE",
    summary: "The answer to a question; the value is JSON where it parses as JSON, else text. May be repeated.",
  },
  value: {
    type: "text",
    value: "JSON|@FILE",
    summary: "The whole answer to anything else that waits; with an action, further fields of it.",
  },
  voter: {
    type: "text",
    value: "NAME",
    summary: "Whose vote this is, where a gate names nobody and the key may relay.",
  },
  revision: {
    type: "integer",
    value: "N",
    min: 0,
    summary: "The revision you read, as `inbox --json` prints it; the one that is open now unless given.",
  },
  artifactDigest: {
    type: "text",
    value: "HEX",
    summary: "The digest you read, as `inbox --json` prints it; the one that is open now unless given.",
  },
} as const satisfies Flags;

export const resolve = command({
  name: "resolve",
  summary: "Answer what a run waits for: vote at a gate, answer questions, hand over a value.",
  about:
    "Name the interrupt by its id, or the run and the node. At a gate, say accept, reject, refine, edit-accept or ask; " +
    "at a governed gate granted or rejected say the same as accept and reject. The gate is read first, and the vote is for " +
    "what was read: when that has changed, the vote is refused.",
  args: [
    { name: "INTERRUPT|RUN", summary: "The id of an interrupt, as `inbox` prints it; or of a run, followed by NODE." },
    { name: "NODE", summary: "The node of that run; left out after the id of an interrupt.", optional: true },
    { name: "ACTION", summary: "What you decide; left out with --answer, or with --value alone.", optional: true },
  ],
  flags: RESOLVE_FLAGS,
  settings: CLIENT,
  examples: [
    'assay resolve int-01k4… accept --reason "tests are green"',
    'assay resolve run-01k4… review refine --feedback "shorter, please"',
    "assay resolve int-01k4… edit-accept --edited @report.json",
    'assay resolve int-01k4… granted --override --reason "production is down"',
    "assay resolve int-01k4… --answer colour=blue --answer size=3",
    'assay resolve run-01k4… paid --value \'{"orderId":7,"amount":12}\'',
  ],
  exits: {
    0: "the answer counts, also while a gate waits for more votes",
    1: "too late: it was decided before, changed, ran out of time, or its run has ended",
    2: "the answer is not one it takes, or nothing waits there",
    3: "not allowed: another has to decide this",
  },
  load: async () => (await import("./resolve.ts")).resolve,
});

export const GATES_SUMMARY_FLAGS = {
  workflow,
  from: { type: "text", value: "TIME", summary: "Gates opened since: an instant, a day, or how long ago, such as 7d." },
  to: { type: "text", value: "TIME", summary: "Gates opened before that." },
  by: {
    type: "text",
    value: "WHAT",
    choices: ["workflow", "node", "principal", "day"],
    summary: "Also by workflow, node, principal or day.",
  },
} as const satisfies Flags;

export const gatesSummary = command({
  name: "gates summary",
  summary: "Show how gates have fared: decided by whom, how fast, and how many ran out of time.",
  args: [],
  flags: GATES_SUMMARY_FLAGS,
  settings: CLIENT,
  examples: ["assay gates summary", "assay gates summary --by principal --from 30d --workflow release"],
  load: async () => (await import("./gates-summary.ts")).gatesSummary,
});

export const INBOX_COMMANDS: readonly AnyCommand[] = [inbox, resolve, gatesSummary];
