import { type AnyCommand, CLIENT, command, DATABASE, text, toggle } from "../program/command.ts";

const EITHER = [...CLIENT, ...DATABASE];

const baselines = () => import("./baselines.ts");

export const BASELINE_SET_FLAGS = {
  latest: toggle("The newest evaluation that has completed."),
  suite: text("ID", "With --latest: only of this suite."),
};

export const BASELINE_EXPORT_FLAGS = {
  out: text("FILE", "Write to this file instead of standard output; a file that exists is replaced."),
  suite: text("ID", "The suite, where several have a baseline of this name."),
};

export const BASELINE_IMPORT_FLAGS = {
  name: text("NAME", "Its name here; the name in the file unless given."),
};

export const BASELINE_COMMANDS: readonly AnyCommand[] = [
  command({
    name: "eval baseline set",
    summary: "Name an evaluation as the baseline that later ones are compared with.",
    about:
      "A name belongs to a suite. Its author and time are kept; the evaluation that had the name before is replaced.",
    args: [
      { name: "NAME", summary: "Letters, digits, dots, hyphens and underscores." },
      { name: "RUN", summary: "The id of a completed evaluation; latest for the newest one.", optional: true },
    ],
    flags: BASELINE_SET_FLAGS,
    settings: EITHER,
    examples: ["assay eval baseline set main --latest", "assay eval baseline set v1 run-01k2v6w0d9q3c5x7m8n4p2r1st"],
    load: async () => (await baselines()).baselineSet,
  }),
  command({
    name: "eval baseline list",
    summary: "List the baselines with their authors and times.",
    settings: EITHER,
    examples: ["assay eval baseline list"],
    load: async () => (await baselines()).baselineList,
  }),
  command({
    name: "eval baseline remove",
    summary: "Remove the name of a baseline; the evaluation stays.",
    args: [
      { name: "SUITE", summary: "The id of the suite." },
      { name: "NAME", summary: "The name of the baseline." },
    ],
    settings: EITHER,
    examples: ["assay eval baseline remove acme.support.evals.refunds main"],
    load: async () => (await baselines()).baselineRemove,
  }),
  command({
    name: "eval baseline export",
    summary: "Write a baseline as a file, to keep in a repository or to import elsewhere.",
    about:
      "The file has figures only: the score of each task and whether it passed, the suite, the agent, the author and time of the baseline, and a digest " +
      "of all that. `assay eval run --baseline FILE.json` compares with it as it is.",
    args: [{ name: "NAME", summary: "The name of the baseline." }],
    flags: BASELINE_EXPORT_FLAGS,
    settings: EITHER,
    examples: ["assay eval baseline export main --out evals/baseline.json"],
    load: async () => (await baselines()).baselineExport,
  }),
  command({
    name: "eval baseline import",
    summary: "Import a baseline from a file.",
    about:
      "The baseline is marked as imported wherever it is shown: the digest detects damage, and does not prove the author. It can be compared " +
      "with, and is no evidence for a promotion.",
    args: [{ name: "FILE", summary: "A file that `assay eval baseline export` wrote." }],
    flags: BASELINE_IMPORT_FLAGS,
    settings: EITHER,
    examples: ["assay eval baseline import evals/baseline.json --name main"],
    load: async () => (await baselines()).baselineImport,
  }),
];
