import { figure } from "../../formats/evals/eval-outcome.ts";
import { unusableInput } from "../../protocol/errors.ts";
import type { Estimate, IntervalOf95 } from "../../protocol/evals/eval-statistics.ts";
import type {
  CalibrationReport,
  CertificateView,
  GoldFigures,
  LeftOut,
} from "../../protocol/evals/judge-certificate-api.ts";
import { withBackend } from "../evals/backend.ts";
import { formatCount } from "../output/amount.ts";
import type { Paint } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { formatFields, formatTable, printList } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { JUDGE_LIST_FLAGS } from "./commands.ts";

const SHOWN = 50;

export async function judgeList(call: Call<typeof JUDGE_LIST_FLAGS>): Promise<undefined> {
  const query = { limit: SHOWN, suiteId: call.flags.suite };
  const { certificates } = await withBackend(call, "reads", async ({ client }) => client.judges.certificates(query));
  const answer = { certificates };
  printList(call, certificates, answer, {
    empty: "No certificates yet. Make one with: assay judge calibrate",
    headings: ["CERTIFICATE", "SUITE", "JUDGE", "N", "KAPPA", "EXPIRES", "HOLDS"],
    row: ({ certificateId, suiteId, suiteVersion, certificate: { model, report, expiresAt }, valid, problems }) =>
      [
        certificateId,
        `${suiteId}@${suiteVersion}`,
        model,
        String(report.n),
        kappaText(report),
        expiresAt.slice(0, 10),
        valid ? "yes" : `no: ${problems.map(({ code }) => code).join(", ")}`,
      ].map(printable),
  });
}

export async function judgeShow(call: Call): Promise<number> {
  const { args, json, io } = call;
  const view = await withBackend(call, "reads", async ({ client }) => client.judges.certificate(args[0] ?? ""));
  io.out(json ? JSON.stringify(view) : certificateText(view, io.paint));
  return view.valid ? EXIT.fine : EXIT.negative;
}

const DRAFT = "https://json-schema.org/draft/2020-12/schema";

export async function judgeSchema({ args, io, json }: Call): Promise<undefined> {
  const { JudgeInput, JudgeOutput } = await import("../../protocol/evals/judge-api.ts");
  const [which] = args;
  if (which !== "input" && which !== "output") throw unusableInput("name input or output");
  const [title, schema] =
    which === "input" ? ["What a judge is asked", JudgeInput] : (["What a judge answers", JudgeOutput] as const);
  io.out(JSON.stringify({ $schema: DRAFT, title, ...schema }, null, json ? undefined : 2));
}

/** A certificate as text: how far judge and people agree, on how many outputs, and whether it holds. */
export function certificateText(view: CertificateView, paint: Paint): string {
  const { certificateId, suiteId, suiteVersion, certificate, gold, issuedBy, costUsd, problems } = view;
  const { report, model, issuedAt, expiresAt } = certificate;
  const fields = {
    Agreement: `${agreed(report)} of ${formatCount(report.n, "output")}, ${estimate(report.accuracy)}`,
    Kappa: `${kappaText(report)}${interval(report.kappa.interval)}`,
    Sensitivity: `${estimate(report.sensitivity)} of ${report.sensitivity.count} that people pass`,
    Specificity: `${estimate(report.specificity)} of ${report.specificity.count} that people fail`,
    ...goldFields(gold),
    Cost: costUsd === undefined || costUsd === 0 ? undefined : `${costUsd} USD`,
    Certificate: `${certificateId}, by ${printable(issuedBy)} at ${when(issuedAt)}, until ${when(expiresAt)}`,
  };
  return [
    `${paint.bold(printable(`${suiteId}@${suiteVersion}`))}  judged by ${printable(model)}`,
    confusionText(report, paint),
    formatFields(fields, paint),
    verdictText(problems, paint),
  ].join("\n\n");
}

function kappaText({ kappa }: CalibrationReport): string {
  return kappa.value === null ? "not defined" : figure(kappa.value);
}

function confusionText({ confusion, labels }: CalibrationReport, paint: Paint): string {
  const count = (gold: string, judge: string) =>
    String(confusion.find((cell) => cell.gold === gold && cell.judge === judge)?.count ?? 0);
  const shown = labels.map(printable);
  const rows = labels.map((gold) => [`people: ${printable(gold)}`, ...labels.map((judge) => count(gold, judge))]);
  return formatTable(["", ...shown.map((label) => `judge: ${label}`)], rows, paint);
}

function agreed({ confusion }: CalibrationReport): number {
  return confusion.reduce((sum, { gold, judge, count }) => sum + (gold === judge ? count : 0), 0);
}

const LEFT_OUT: Readonly<Record<LeftOut, string>> = {
  no_such_rubric: "of tasks that have no rubric in this suite",
  several_trials: "of tasks that were tried more than once",
  no_output: "of tasks and steps without an output",
  output_cut: "of outputs too long to be kept",
  about_no_output: "about no single output",
  no_verdict: "neither pass, fail nor a rating",
  not_a_person: "by agents and checks",
  imported: "that were imported",
};

function goldFields({ disputed, unjudged, leftOut, rubrics }: GoldFigures): Record<string, string | undefined> {
  const left = leftOut.map(({ reason, count }) => `${count} ${LEFT_OUT[reason]}`).join("; ");
  return {
    Rubrics: `${rubrics.judged} of ${rubrics.suite} in the suite`,
    Disputed: disputed === 0 ? undefined : `${formatCount(disputed, "output")} that people disagree on`,
    Unjudged: unjudged === 0 ? undefined : `${formatCount(unjudged, "output")} without a verdict of the judge`,
    "Left out": left === "" ? undefined : left,
  };
}

function verdictText(problems: CertificateView["problems"], paint: Paint): string {
  if (problems.length === 0) return `${paint.green("✓")} ${paint.bold("The judge is certified.")}`;
  const reasons = problems.map(({ problem }) => `  ${printable(problem)}`);
  return [`${paint.red("✗")} ${paint.bold("The judge is not certified:")}`, ...reasons].join("\n");
}

function estimate({ value, interval: range }: Estimate): string {
  return value === null ? "not known" : `${figure(value)}${interval(range)}`;
}

function interval(range: IntervalOf95 | null): string {
  return range === null ? "" : ` (95 % ${figure(range.low)}–${figure(range.high)})`;
}

function when(instant: string): string {
  return instant.slice(0, 16).replace("T", " ");
}
