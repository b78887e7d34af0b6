import { type AnyCommand, CLIENT, command, DATABASE, integer, list, text } from "../program/command.ts";
import type { SettingName } from "../settings/settings.ts";

/** A server with its judge, or a database and the judge of an agents file. */
const SETTINGS: readonly SettingName[] = [
  ...CLIENT,
  ...DATABASE,
  "agents",
  "evalConcurrency",
  "maxEvalConcurrency",
  "maxCostUsdPerSuite",
];

export const CALIBRATE_FLAGS = {
  run: list(
    "RUN",
    "An evaluation, or an imported tape, that people judged; latest for the newest evaluation with this suite. Repeat it for more.",
  ),
  tape: list("FILE", "A tape that people judged in a sidecar; repeat it for more."),
  sidecar: list("FILE", "The sidecar of the tape; TAPE.annotations.jsonl unless given."),
  task: text("ID", "The task whose rubric the steps of tapes are judged by."),
  days: integer("N", 1, "How many days the certificate holds; 90 unless given."),
  seed: integer("N", 0, "The seed of everything random; 1 unless given."),
  concurrency: integer("N", 1, "Outputs that are judged at the same time."),
  budgetUsd: text("USD", "Stop when this much is spent; there is no certificate then."),
};

export const JUDGE_LIST_FLAGS = {
  suite: text("ID", "Only those for this suite."),
};

const certificates = () => import("./certificates.ts");

export const JUDGE_COMMANDS: readonly AnyCommand[] = [
  command({
    name: "judge calibrate",
    summary: "Compare the judge with people, and issue a certificate.",
    about:
      "The judge is asked about every output that people labelled pass or fail, or rated, in evaluations (on eval.scored events) and in " +
      "sidecars of tapes. Judgments of agents do not count; an adjudicated judgment takes precedence. The certificate is bound to prompt, model, " +
      "rubrics and judgments, and expires. It holds with a kappa of at least 0.6 on at least 50 outputs.",
    args: [{ name: "SUITE", summary: "A JSON file, or the id@version of a suite that is kept; its rubrics are used." }],
    flags: CALIBRATE_FLAGS,
    settings: SETTINGS,
    examples: [
      "assay judge calibrate suite.json --run run-01k2v6w0d9q3c5x7m8n4p2r1st --agents agents.json",
      "assay judge calibrate acme.support.evals.tone@1.0.0 --tape monday.tape --task greets --agents agents.json",
    ],
    exits: {
      0: "the judge is certified",
      1: "the judge and people agree too little, or on too few outputs",
      2: "the suite, the judge or the call is not valid, or there are no judgments",
      5: "the judge gave no verdict on too many outputs, or the budget was spent",
    },
    load: async () => (await import("./judge-calibrate.ts")).judgeCalibrate,
  }),
  command({
    name: "judge list",
    summary: "List the certificates of the judge, newest first, and whether they hold.",
    flags: JUDGE_LIST_FLAGS,
    settings: SETTINGS,
    examples: ["assay judge list --agents agents.json"],
    load: async () => (await certificates()).judgeList,
  }),
  command({
    name: "judge show",
    summary: "Show a certificate with its figures, and the reasons why it does not hold.",
    args: [{ name: "CERTIFICATE", summary: "Its id, as `judge list` prints it." }],
    settings: SETTINGS,
    examples: ["assay judge show cert-01k2v6w0d9q3c5x7m8n4p2r1st --agents agents.json"],
    exits: { 0: "it holds", 1: "it does not" },
    load: async () => (await certificates()).judgeShow,
  }),
  command({
    name: "judge schema",
    summary: "Print the JSON Schema of the input of a judge, or of its output.",
    about: "For judges that are programs or endpoints; see docs/formats/judge.md.",
    args: [{ name: "WHICH", summary: "input or output." }],
    settings: [],
    examples: ["assay judge schema input", "assay judge schema output > judge-output.schema.json"],
    load: async () => (await certificates()).judgeSchema,
  }),
];
