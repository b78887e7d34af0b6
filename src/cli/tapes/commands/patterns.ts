import type { GRADED_BY } from "../../../formats/tapes/grade.ts";
import { type AnyCommand, type Arg, command, type Flags } from "../../program/command.ts";
import { ANNOTATIONS, NOT_LOADED, TAPE } from "./words.ts";

const SIDECARS: Arg = { name: "SIDECAR|DIR", summary: "Annotations about a tape, or a directory with many." };
const SKIP_BROKEN = {
  type: "switch",
  summary: "Go on without files that do not load; they are named, and the exit code is 2.",
} as const;
const SKIPPED = "wrong use, nothing to read in the directory, or files were skipped";
const EXITS = { 1: NOT_LOADED, 2: SKIPPED };

export const TAPE_SUGGEST_FLAGS = {
  minOccurrences: {
    type: "integer",
    value: "N",
    min: 1,
    summary: "How often it was met; 2 unless given, and at least 2.",
  },
  owner: { type: "text", value: "NAME", summary: "Who the packs are for; else whoever met it first." },
  skipBroken: SKIP_BROKEN,
} as const satisfies Flags;

const suggest = command({
  name: "tape suggest",
  summary: "Propose what to have ready, because its lack was noted again and again.",
  about:
    "Rows of kind friction are put together when kind, tape and words agree; each group becomes a proposal with queries, documents, " +
    "tools and secrets by name, as the metadata of the rows states them. For a directory, rows of different tapes are put together " +
    "too. With --json the proposals as a list and nothing else.",
  args: [SIDECARS],
  flags: TAPE_SUGGEST_FLAGS,
  settings: [],
  examples: [
    "assay tape suggest run.tape.annotations.jsonl",
    "assay tape suggest recordings --min-occurrences 3 --owner platform",
  ],
  exits: EXITS,
  load: async () => (await import("../tape-suggest.ts")).tapeSuggest,
});

export const TAPE_CANDIDATES_FLAGS = {
  minExamples: { type: "integer", value: "N", min: 1, summary: "In how many tapes; 2 unless given, and at least 2." },
  limit: { type: "integer", value: "N", min: 1, summary: "How many to list; 20 unless given." },
  skipBroken: SKIP_BROKEN,
} as const satisfies Flags;

const candidates = command({
  name: "tape candidates",
  summary: "Rank the sequences of actions that tapes have in common.",
  about:
    "2 to 12 actions next to each other, in at least two of the tapes (*.tape) below a directory. Those that somebody marked with " +
    "crystallize_here come first, then those in the most tapes, then the longest. Values that differ between tapes are named: they " +
    "would be the parameters of a workflow.",
  args: [{ name: "DIR", summary: "A directory with tapes." }],
  flags: TAPE_CANDIDATES_FLAGS,
  settings: [],
  examples: ["assay tape candidates recordings", "assay tape candidates recordings --min-examples 5 --limit 3 --json"],
  exits: EXITS,
  load: async () => (await import("../tape-candidates.ts")).tapeCandidates,
});

// The words of the format once more: help texts must not load it. The compiler compares the lists.
const BY: typeof GRADED_BY = ["persona", "tape", "author"];

export const TAPE_GRADE_FLAGS = {
  by: { type: "text", value: "WHAT", choices: BY, summary: `What to grade: ${BY.join(", ")}; persona unless given.` },
  skipBroken: SKIP_BROKEN,
} as const satisfies Flags;

const grade = command({
  name: "tape grade",
  summary: "Grade who acted in tapes by the rows that say correct or incorrect.",
  about:
    "Counts events, and gives the rate with its interval of 95 %. The persona is what a row has in metadata.persona, else the script of the " +
    "tape beside the sidecar, else the tape that the sidecar names. Rows that a later one replaces do not count, nor do muted events; an " +
    "event that was judged both ways is listed and in no rate.",
  args: [SIDECARS],
  flags: TAPE_GRADE_FLAGS,
  settings: [],
  examples: ["assay tape grade run.tape.annotations.jsonl", "assay tape grade recordings --by author"],
  exits: EXITS,
  load: async () => (await import("../tape-grade.ts")).tapeGrade,
});

export const TAPE_PRESENT_FLAGS = {
  annotations: ANNOTATIONS,
} as const satisfies Flags;

const present = command({
  name: "tape present",
  summary: "Step through the markers and alternatives of a recorded run.",
  about:
    "In the order of their events, each with the event, what lies in its span, the evidence, what would have been better, and links. In a " +
    "terminal Enter goes on, b back, q ends; elsewhere all steps are printed. Muted events are left out.",
  args: [TAPE],
  flags: TAPE_PRESENT_FLAGS,
  settings: [],
  examples: ["assay tape present run.tape", "assay tape present run.tape --annotations lesson.jsonl --json"],
  exits: { 1: NOT_LOADED, 2: "some steps are about events that the tape does not have; the others are shown" },
  load: async () => (await import("../tape-present.ts")).tapePresent,
});

export const TAPE_PATTERN_COMMANDS: readonly AnyCommand[] = [suggest, candidates, grade, present];
