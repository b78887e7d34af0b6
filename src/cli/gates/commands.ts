import { type AnyCommand, choice, command, integer, list, text, toggle } from "../program/command.ts";

const workflow = text("ID", "Only gates of this workflow.");

export const INBOX_FLAGS = {
  workflow,
  kind: choice(
    "KIND",
    ["approval", "clarification", "external-event", "custom", "low-confidence"],
    "Only approval, clarification, external-event, custom or low-confidence.",
  ),
  flagged: toggle("Also runs with an open flag."),
  limit: integer("N", 1, "How many; 50 unless given."),
  watch: toggle("Follow changes until interrupted."),
};

export const RESOLVE_FLAGS = {
  reason: text("TEXT", "Why; recorded with the vote. An override requires it."),
  feedback: text("TEXT", "What to change, or a remark; refine requires it."),
  override: toggle("Take the override path of a governed gate."),
  edited: text("JSON|@FILE", "The edited artifact; edit-accept requires it."),
  question: text("TEXT", "The question to ask before deciding; ask requires it."),
  answer: list(
    "ID=VALUE",
    "The answer to a question; the value is JSON where it parses as JSON, else text. May be repeated.",
  ),
  value: text(
    "JSON|@FILE",
    "The whole answer to another kind of interrupt; with an action, further fields of the vote.",
  ),
  voter: text("NAME", "The voter, where the gate names no approvers and the key may relay votes."),
  revision: integer(
    "N",
    0,
    "The revision you read, as `inbox --json` prints it; the one that is open now unless given.",
  ),
  artifactDigest: text(
    "HEX",
    "The digest you read, as `inbox --json` prints it; the one that is open now unless given.",
  ),
};

export const GATES_SUMMARY_FLAGS = {
  workflow,
  from: text("TIME", "Gates opened since: an instant, a day, or how long ago, such as 7d."),
  to: text("TIME", "Gates opened before that."),
  by: choice("WHAT", ["workflow", "node", "principal", "day"], "Also by workflow, node, principal or day."),
};

export const INBOX_COMMANDS: readonly AnyCommand[] = [
  command({
    name: "inbox",
    summary: "List the gates and other interrupts that you may answer, oldest first.",
    about: "With --watch, a line for each change; with --json as well, one JSON object { event, data } per line.",
    flags: INBOX_FLAGS,
    examples: [
      "assay inbox",
      "assay inbox --workflow release --kind approval",
      "assay inbox --flagged",
      "assay inbox --watch --json",
    ],
    load: async () => (await import("./inbox.ts")).inbox,
  }),
  command({
    name: "resolve",
    summary: "Answer an interrupt of a run: vote at a gate, answer questions, or send a value.",
    about:
      "Name the interrupt by its id, or the run and the node. The actions at a gate are accept, reject, refine, edit-accept and ask; " +
      "at a governed gate granted and rejected mean the same as accept and reject. The gate is read first, and the vote is bound to " +
      "the revision that was read: when it has changed, the vote is refused.",
    args: [
      {
        name: "INTERRUPT|RUN",
        summary: "The id of an interrupt, as `inbox` prints it; or of a run, followed by NODE.",
      },
      { name: "NODE", summary: "The node of that run; left out after the id of an interrupt.", optional: true },
      { name: "ACTION", summary: "The decision; left out with --answer, or with --value alone.", optional: true },
    ],
    flags: RESOLVE_FLAGS,
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
      1: "too late: the interrupt was decided, changed or expired, or its run has ended",
      2: "the answer is not valid for the interrupt, or there is no such interrupt",
      3: "not allowed: another principal has to decide",
    },
    load: async () => (await import("./resolve.ts")).resolve,
  }),
  command({
    name: "gates summary",
    summary: "Show figures of gates: decisions, times to decide, time-outs and overrides.",
    flags: GATES_SUMMARY_FLAGS,
    examples: ["assay gates summary", "assay gates summary --by principal --from 30d --workflow release"],
    load: async () => (await import("./gates-summary.ts")).gatesSummary,
  }),
];
