import { figure } from "../../formats/evals/eval-outcome.ts";
import type { Estimate, IntervalOf95 } from "../../protocol/evals/eval-statistics.ts";
import type { CalibrationReport } from "../../protocol/evals/judge-calibration.ts";
import type { CertificateView, GoldFigures, LeftOut } from "../../protocol/evals/judge-certificate-api.ts";
import { formatCount } from "../output/amount.ts";
import type { Paint } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { formatFields, formatTable } from "../output/table.ts";

/** A certificate for somebody at a terminal: how judge and people agree, what it rests on, and whether it holds. */
export function certificateText(view: CertificateView, paint: Paint): string {
  const { certificateId, suiteId, suiteVersion, certificate, gold, issuedBy, costUsd, problems } = view;
  const { report, model, issuedAt, expiresAt } = certificate;
  const fields = formatFields(
    {
      Agreement: `${agreed(report)} of ${formatCount(report.n, "output")}, ${estimate(report.accuracy)}`,
      Kappa: `${kappaText(report)}${interval(report.kappa.interval)}`,
      Sensitivity: `${estimate(report.sensitivity)} of ${report.sensitivity.count} that people pass`,
      Specificity: `${estimate(report.specificity)} of ${report.specificity.count} that people fail`,
      ...goldFields(gold),
      Cost: costUsd === undefined || costUsd === 0 ? undefined : `${costUsd} USD`,
      Certificate: `${certificateId}, by ${printable(issuedBy)} at ${when(issuedAt)}, until ${when(expiresAt)}`,
    },
    paint,
  );
  return [
    `${paint.bold(printable(`${suiteId}@${suiteVersion}`))}  judged by ${printable(model)}`,
    confusionText(report, paint),
    fields,
    verdictText(problems, paint),
  ].join("\n\n");
}

export function kappaText({ kappa }: CalibrationReport): string {
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

const WHY: Readonly<Record<LeftOut, string>> = {
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
  const left = leftOut.map(({ reason, count }) => `${count} ${WHY[reason]}`).join("; ");
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
