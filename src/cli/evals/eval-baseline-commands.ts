import { type AnyCommand, CLIENT, command, DATABASE, type Flags } from "../program/command.ts";

const EITHER = [...CLIENT, ...DATABASE];

export const BASELINE_SET_FLAGS = {
  latest: { type: "switch", summary: "Take the latest evaluation that has completed." },
  suite: { type: "text", value: "ID", summary: "With --latest: of this suite." },
} as const satisfies Flags;

export const baselineSet = command({
  name: "eval baseline set",
  summary: "Name an evaluation as what later ones are compared with.",
  about: "A name belongs to a suite. Who set it and when is kept; what had the name before is replaced.",
  args: [
    { name: "NAME", summary: "Letters, digits, dots, hyphens and underscores." },
    { name: "RUN", summary: "The id of an evaluation that has completed; latest for the newest one.", optional: true },
  ],
  flags: BASELINE_SET_FLAGS,
  settings: EITHER,
  examples: ["assay eval baseline set main --latest", "assay eval baseline set v1 run-01k2v6w0d9q3c5x7m8n4p2r1st"],
  load: async () => (await import("./eval-baseline.ts")).baselineSet,
});

export const baselineList = command({
  name: "eval baseline list",
  summary: "List the baselines with who set them and when.",
  args: [],
  flags: {},
  settings: EITHER,
  examples: ["assay eval baseline list"],
  load: async () => (await import("./eval-baseline.ts")).baselineList,
});

export const baselineRemove = command({
  name: "eval baseline remove",
  summary: "Take the name of a baseline away; the evaluation stays.",
  args: [
    { name: "SUITE", summary: "The id of the suite." },
    { name: "NAME", summary: "The name of the baseline." },
  ],
  flags: {},
  settings: EITHER,
  examples: ["assay eval baseline remove acme.support.evals.refunds main"],
  load: async () => (await import("./eval-baseline.ts")).baselineRemove,
});

export const BASELINE_EXPORT_FLAGS = {
  out: {
    type: "text",
    value: "FILE",
    summary: "Write it there, in place of what was there, and not to standard output.",
  },
  suite: { type: "text", value: "ID", summary: "Of this suite, where several have a baseline of this name." },
} as const satisfies Flags;

export const baselineExport = command({
  name: "eval baseline export",
  summary: "Write a baseline as a file, to be kept in a repository or taken elsewhere.",
  about:
    "The file has figures only: of each task its score and whether it passed, which suite, which agent, who named it and when, and a digest " +
    "of all that. `assay eval run --baseline FILE.json` compares with it as it is.",
  args: [{ name: "NAME", summary: "The name of the baseline." }],
  flags: BASELINE_EXPORT_FLAGS,
  settings: EITHER,
  examples: ["assay eval baseline export main --out evals/baseline.json"],
  load: async () => (await import("./eval-baseline-file.ts")).baselineExport,
});

export const BASELINE_IMPORT_FLAGS = {
  name: { type: "text", value: "NAME", summary: "Its name here; the one in the file unless told otherwise." },
} as const satisfies Flags;

export const baselineImport = command({
  name: "eval baseline import",
  summary: "Take a baseline from a file.",
  about:
    "It is shown as imported wherever it is shown: the digest tells what was damaged on the way, and not who wrote it. It can be compared " +
    "with, and is no evidence for a promotion.",
  args: [{ name: "FILE", summary: "What `assay eval baseline export` wrote." }],
  flags: BASELINE_IMPORT_FLAGS,
  settings: EITHER,
  examples: ["assay eval baseline import evals/baseline.json --name main"],
  load: async () => (await import("./eval-baseline-file.ts")).baselineImport,
});

export const BASELINE_COMMANDS: readonly AnyCommand[] = [
  baselineSet,
  baselineList,
  baselineRemove,
  baselineExport,
  baselineImport,
];
