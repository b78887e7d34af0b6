import type {
  AUTHOR_KINDS,
  FRICTION_KINDS,
  HYPOTHESIS_STATUSES,
  ROW_KINDS,
} from "../../../formats/tapes/sidecar/sidecar.ts";
import { type AnyCommand, command, type Flags } from "../../program/command.ts";

// The words of the format once more: help texts must not load it. The compiler compares the lists.
const KINDS: typeof ROW_KINDS = [
  "correct",
  "incorrect",
  "alternative",
  "note",
  "marker",
  "mute",
  "hypothesis",
  "friction",
  "crystallize_here",
];
const AUTHORS: typeof AUTHOR_KINDS = ["human", "agent", "system"];
const STATUSES: typeof HYPOTHESIS_STATUSES = ["active", "verifying", "confirmed", "disproven", "stale"];
const FRICTION: typeof FRICTION_KINDS = [
  "repeated_query",
  "repeated_clarification",
  "approval_stall",
  "missing_context",
  "manual_handoff",
  "tool_gap",
  "failed_assumption",
  "expensive_model_used_for_deterministic_step",
  "human_hypothesis",
];

export const TAPE_ANNOTATE_FLAGS = {
  event: {
    type: "text",
    value: "SEQ",
    summary: "The event it is about, by its number in the tape; `last` is the last one.",
  },
  kind: { type: "text", value: "KIND", summary: `What it says: ${KINDS.join(", ")}.` },
  evidence: { type: "text", value: "TEXT|@FILE|-", summary: "Why, in words; - is standard input." },
  fix: { type: "text", value: "JSON|@FILE", summary: "What should have been there instead." },
  authorKind: {
    type: "text",
    value: "KIND",
    choices: AUTHORS,
    summary: "What the author is: human, agent or system; human unless given.",
  },
  surface: { type: "text", value: "WORD", summary: "Where it was written; cli unless given." },
  span: {
    type: "text",
    value: "END|START:END",
    summary: "The stretch it is about, up to and including the event END.",
  },
  status: {
    type: "text",
    value: "STATUS",
    choices: STATUSES,
    summary: `Of a hypothesis: ${STATUSES.join(", ")}.`,
  },
  friction: { type: "text", value: "KIND", summary: `Of friction: ${FRICTION.join(", ")}.` },
  link: { type: "list", value: "URL|LABEL=URL", summary: "Something to read; may be repeated." },
  meta: { type: "list", value: "KEY=JSON", summary: "More about it, for programs; may be repeated." },
  supersedes: {
    type: "text",
    value: "ID",
    summary: "Replace this earlier annotation: what is not given stays as it was.",
  },
  id: { type: "text", value: "ID", summary: "Its own id; one is made unless given." },
  annotations: {
    type: "text",
    value: "SIDECAR",
    summary: "The file to write to; TAPE.annotations.jsonl unless given.",
  },
  force: { type: "switch", summary: "Write what `tape validate` would report." },
  dryRun: { type: "switch", summary: "Print the line that would be written, and write nothing." },
} as const satisfies Flags;

export const tapeAnnotate = command({
  name: "tape annotate",
  summary: "Judge an event of a recorded run: add one annotation to the file beside its tape.",
  about:
    "The file is made when it is missing. What is in it stays as it is, to the byte. What `tape validate` would report is " +
    "refused. Nothing is overwritten: to change what was said, add one that replaces it with --supersedes. " +
    "Prints its id.",
  args: [{ name: "TAPE", summary: "The tape that the event is in." }],
  flags: TAPE_ANNOTATE_FLAGS,
  settings: ["author"],
  examples: [
    'assay tape annotate run.tape --event 3 --kind incorrect --evidence "deleted the wrong file"',
    'assay tape annotate run.tape --event 3 --kind alternative --fix \'{"path":"build/tmp"}\'',
    'assay tape annotate run.tape --event last --kind hypothesis --status active --evidence "the cache is cold"',
    'assay tape annotate run.tape --supersedes ann_9_1 --status confirmed --evidence "warm cache: 3 s"',
    "assay tape annotate run.tape --event 2 --kind friction --friction missing_context --meta doc_url=https://…",
    "assay tape annotate run.tape --event 4 --kind crystallize_here --span 9",
  ],
  exits: {
    0: "the annotation is in the file",
    1: "the tape or the file does not load, or the file cannot be written",
    2: "not understood, or refused because it would not be valid",
  },
  load: async () => (await import("../tape-annotate.ts")).tapeAnnotate,
});

export const TAPE_WRITE_COMMANDS: readonly AnyCommand[] = [tapeAnnotate];
