import { type AnyCommand, CLIENT, choice, command, DATABASE, integer, list, text, toggle } from "../program/command.ts";
import type { SettingName } from "../settings/settings.ts";

/** A server, or a database in which this process evaluates. */
const EITHER: readonly SettingName[] = [...CLIENT, ...DATABASE];
const AGENTS: readonly SettingName[] = [
  "agents",
  "toolsUrl",
  "toolsPort",
  "packs",
  "publisherKeys",
  "allowUnsigned",
  "suites",
  "maxTasksPerSuite",
  "maxCostUsdPerSuite",
  "evalConcurrency",
  "maxEvalConcurrency",
  "maxTrials",
  "evalCacheSeconds",
];

export const EVAL_FILES_FLAGS = {
  output: text("FILE", "Write figures, intervals and the verdict as JSON, as --json prints them."),
  junit: text("FILE", "Write the tasks as JUnit XML."),
  md: text("FILE", "Write a summary with the differences as Markdown."),
  sarif: text("FILE", "Write the tasks that did not pass as SARIF 2.1.0."),
  withContent: toggle(
    "Let the JSON, JUnit and SARIF files quote outputs, expected values and error output of programs.",
  ),
};

const DEMANDS = {
  failOn: list("WHAT", "Also fail on suspect, flaky, error, failure or finding; several with commas, or repeated."),
  requireVerdict: toggle("Exit with 5 when there is not enough data to compare with the baseline."),
};

const EVAL_EXITS = {
  0: "passed",
  1: "a negative verdict: a bar of the suite is not met, worse than the baseline, or what --fail-on names",
  2: "the suite, the agent or the call is not valid, or nothing is left to evaluate",
  3: "not allowed",
  4: "the server cannot be reached, or the agent's provider could not be reached in any task",
  5: "no verdict: the evaluation did not complete, a task was not run, or --require-verdict and there is not enough data",
};

export const EVAL_RUN_FLAGS = {
  agent: text("ID", "Evaluate this agent, which is installed or bound in the agents file."),
  command: text("PROGRAM", "Evaluate this program: the input on stdin, its output on stdout."),
  arg: list("ARG", "An argument of the program; repeat it for more."),
  http: text("URL", "Evaluate this endpoint: the task is posted as JSON."),
  baseline: text(
    "NAME",
    "Compare with this baseline, with the run of this id (latest for the newest one), or with the one in this file (FILE.json).",
  ),
  trials: integer("N", 1, "How often each task is tried; 1 unless given."),
  concurrency: integer("N", 1, "Tasks that run at the same time."),
  mode: list("MODE", "Only this mode of the suite; repeat it for more. live-shadow runs only when it is named here."),
  task: list("ID", "Only this task; an asterisk matches any characters. Repeat it for more."),
  failedIn: text("RUN", "Only tasks that did not pass in this evaluation; latest for the newest one with this suite."),
  resume: text(
    "RUN",
    "Resume this evaluation, which was interrupted; latest for the newest one. Tasks that have their score are not run again.",
  ),
  retryErrors: integer("N", 0, "How often a trial that ended in an error is tried again."),
  budgetUsd: text("USD", "Stop when this much is spent; there is no verdict then."),
  timeout: integer("SECONDS", 1, "How long --command or --http may take for a task; 120."),
  cache: toggle("Use earlier results of the same trials; they are marked as cached."),
  agentVersion: text(
    "VERSION",
    "The version to evaluate, or a label for the program or endpoint of --command or --http.",
  ),
  requireCertificate: toggle("Start only when the judge has a certificate that holds; see `assay judge calibrate`."),
  reasoning: choice(
    "LEVEL",
    ["full", "summary", "off"],
    "How much of the agent's reasoning is kept with each task: full, summary or off; full.",
  ),
  anyAgent: toggle("Use the suite although it was made for another agent."),
  ...DEMANDS,
  allowMissing: list(
    "MODE|TASK",
    "Give a verdict although this mode or task of the suite or baseline was not run; several with commas, or repeated.",
  ),
  ...EVAL_FILES_FLAGS,
};

export const EVAL_LIST_FLAGS = {
  suite: text("ID", "Only evaluations with this suite."),
};

export const EVAL_COMPARE_FLAGS = DEMANDS;

export const EVAL_OVERRIDE_FLAGS = {
  rating: choice("N", ["1", "2", "3", "4", "5"], "A rating: 1 is a score of 0, 5 of 1."),
  correction: text(
    "TEXT|@FILE|-",
    "The correct answer. Marks the task as disputed; `suite add-from` makes a task of it.",
  ),
  flag: toggle("Ask for a second look. Marks the task as disputed."),
  note: text("TEXT", "A remark."),
  supersedes: text("ANNOTATION", "Replace this earlier judgment of yours."),
};

export const evalRun = command({
  name: "eval run",
  summary: "Evaluate an agent with a suite, and exit with a verdict.",
  about:
    "Without --url it needs no server: it runs in this process and keeps the results in the data folder. With --url (or ASSAY_URL) " +
    "it runs on the server, with an agent that is bound there. JSON, JUnit and SARIF files hold figures and no text of a task or an " +
    "output, unless --with-content; the terminal and the Markdown file show the differences. An evaluation without tasks never passes.",
  args: [
    {
      name: "SUITE",
      summary: "A JSON file, the id@version or URI of a suite that is kept, or https://…#sha256=DIGEST.",
    },
  ],
  flags: EVAL_RUN_FLAGS,
  settings: [...EITHER, ...AGENTS],
  examples: [
    "assay eval run suite.json --command python3 --arg agent.py",
    "assay eval run suite.json --http http://127.0.0.1:8000/answer --trials 5 --junit results.xml",
    "assay eval run suite.json --command node --arg agent.mjs --baseline baseline.json --require-verdict",
    "assay eval run acme.support.evals.refunds@1.0.0 --agent vendor.acme.support --baseline main --url https://assay.example.com",
  ],
  exits: EVAL_EXITS,
  load: async () => (await import("./eval-run.ts")).evalRun,
});

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

export const EVAL_COMMANDS: readonly AnyCommand[] = [
  evalRun,
  command({
    name: "eval show",
    summary: "Show the result of an evaluation, or one of its tasks with input and answers.",
    about:
      "With TASK it prints the input of the task and, for each trial, the output, its differences, the reasoning, the tool calls and the judge's " +
      "verdicts. On a server that takes scope artifacts:read.",
    args: [
      { name: "RUN", summary: "The id of an evaluation, or latest; the newest one unless given.", optional: true },
      { name: "TASK", summary: "The id of one of its tasks.", optional: true },
    ],
    flags: EVAL_FILES_FLAGS,
    settings: EITHER,
    examples: [
      "assay eval show",
      "assay eval show run-01k2v6w0d9q3c5x7m8n4p2r1st --md summary.md",
      "assay eval show latest refund-small",
    ],
    load: async () => (await import("./eval-show.ts")).evalShow,
  }),
  command({
    name: "eval list",
    summary: "List evaluations, newest first.",
    flags: EVAL_LIST_FLAGS,
    settings: EITHER,
    examples: ["assay eval list"],
    load: async () => (await import("./eval-show.ts")).evalList,
  }),
  command({
    name: "eval compare",
    summary: "Test whether the difference between two evaluations is more than chance.",
    about: "Tasks are paired by id. Both evaluations have to be of the same version of a suite.",
    args: [
      { name: "RUN", summary: "The evaluation in question; latest for the newest one that has completed." },
      {
        name: "BASELINE",
        summary: "The name of a baseline, its file (FILE.json), or the id of an evaluation; latest for the newest one.",
      },
    ],
    flags: EVAL_COMPARE_FLAGS,
    settings: EITHER,
    examples: ["assay eval compare run-01k2v6w0d9q3c5x7m8n4p2r1st main"],
    exits: {
      0: "not worse, as far as can be measured",
      1: "worse, or what --fail-on names",
      2: "they cannot be compared",
      5: "with --require-verdict: there is not enough data",
    },
    load: async () => (await import("./eval-compare.ts")).evalCompare,
  }),
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
  command({
    name: "eval override",
    summary: "Disagree with the score of a task.",
    about:
      "The same as `annotate` on the event of the score. The evaluation stays as it is; `eval show` prints overrides next to it. Only people " +
      "override, the newest judgment counts, and one that was adjudicated in a review queue takes precedence.",
    args: [
      { name: "RUN", summary: "The id of an evaluation; latest for the newest one." },
      { name: "TASK", summary: "The id of a task of its suite." },
      { name: "VERDICT", summary: "pass or fail.", optional: true },
    ],
    flags: EVAL_OVERRIDE_FLAGS,
    settings: EITHER,
    examples: [
      'assay eval override run-01k4… names-the-window pass --note "says it in other words"',
      "assay eval override run-01k4… names-the-window --rating 4",
      'assay eval override run-01k4… names-the-window --correction "Within 30 days."',
    ],
    load: async () => (await import("./eval-override.ts")).evalOverride,
  }),
];
