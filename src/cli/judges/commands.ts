import { type AnyCommand, CLIENT, command, DATABASE, type Flags } from "../program/command.ts";
import type { SettingName } from "../settings/settings.ts";

/** Either a server with its judge, or the database itself and the judge of an agents file. */
const SETTINGS: readonly SettingName[] = [
  ...CLIENT,
  ...DATABASE,
  "agents",
  "evalConcurrency",
  "maxEvalConcurrency",
  "maxCostUsdPerSuite",
];

export const CALIBRATE_FLAGS = {
  run: {
    type: "list",
    value: "RUN",
    summary:
      "An evaluation, or an imported tape, that people judged; latest for the newest evaluation with this suite. Repeat it for more.",
  },
  tape: { type: "list", value: "FILE", summary: "A tape that people judged in a sidecar; repeat it for more." },
  sidecar: {
    type: "list",
    value: "FILE",
    summary: "The sidecar of the tape; the one beside it unless told otherwise.",
  },
  task: { type: "text", value: "ID", summary: "The task whose rubric the steps of tapes are judged by." },
  days: { type: "integer", value: "N", min: 1, summary: "How long the certificate holds; 90 unless told otherwise." },
  seed: { type: "integer", value: "N", min: 0, summary: "What is drawn at random is drawn with this; 1." },
  concurrency: { type: "integer", value: "N", min: 1, summary: "Outputs that are judged at the same time." },
  budgetUsd: { type: "text", value: "USD", summary: "Stop when this much is spent; there is no certificate then." },
} as const satisfies Flags;

export const judgeCalibrate = command({
  name: "judge calibrate",
  summary: "Compare the judge with people, and issue a certificate.",
  about:
    "The judge is asked about every output that people labelled pass or fail, or rated, in evaluations (on eval.scored events) and in " +
    "sidecars of tapes. What agents said does not count; an adjudicated judgment wins. The certificate is bound to prompt, model, rubrics " +
    "and the judgments, and expires. It holds with a kappa of 0.6 at least on 50 outputs at least.",
  args: [
    { name: "SUITE", summary: "A JSON file, or the id@version of a suite that is kept; its rubrics are judged by." },
  ],
  flags: CALIBRATE_FLAGS,
  settings: SETTINGS,
  examples: [
    "assay judge calibrate suite.json --run run-01k2v6w0d9q3c5x7m8n4p2r1st --agents agents.json",
    "assay judge calibrate acme.support.evals.tone@1.0.0 --tape monday.tape --task greets --agents agents.json",
  ],
  exits: {
    0: "the judge is certified",
    1: "the judge and people agree too little, or there is too little to tell",
    2: "the suite, the judge or the call is not valid, or nobody judged anything",
    5: "the judge gave no verdict on too many outputs, or the budget was spent",
  },
  load: async () => (await import("./judge-calibrate.ts")).judgeCalibrate,
});

export const JUDGE_LIST_FLAGS = {
  suite: { type: "text", value: "ID", summary: "Only those for this suite." },
} as const satisfies Flags;

export const judgeList = command({
  name: "judge list",
  summary: "List the certificates of the judge, newest first, and whether they hold.",
  args: [],
  flags: JUDGE_LIST_FLAGS,
  settings: SETTINGS,
  examples: ["assay judge list --agents agents.json"],
  load: async () => (await import("./judge-list.ts")).judgeList,
});

export const judgeShow = command({
  name: "judge show",
  summary: "Show a certificate with its figures, and why it does not hold.",
  args: [{ name: "CERTIFICATE", summary: "Its id, as `judge list` prints it." }],
  flags: {},
  settings: SETTINGS,
  examples: ["assay judge show cert-01k2v6w0d9q3c5x7m8n4p2r1st --agents agents.json"],
  exits: { 0: "it holds", 1: "it does not" },
  load: async () => (await import("./judge-show.ts")).judgeShow,
});

export const judgeSchema = command({
  name: "judge schema",
  summary: "Print the JSON Schema of what a judge is asked, or of what it answers.",
  about: "For whoever writes a judge as a program or an endpoint; see docs/formats/judge.md.",
  args: [{ name: "WHICH", summary: "input or output." }],
  flags: {},
  settings: [],
  examples: ["assay judge schema input", "assay judge schema output > judge-output.schema.json"],
  load: async () => (await import("./judge-schema.ts")).judgeSchema,
});

export const JUDGE_COMMANDS: readonly AnyCommand[] = [judgeCalibrate, judgeList, judgeShow, judgeSchema];
