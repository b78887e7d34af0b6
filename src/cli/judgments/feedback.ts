import type {
  ApartFigures,
  FeedbackFigures,
  FeedbackSummary,
  RateInterval,
} from "../../protocol/judgments/feedback-api.ts";
import { connect } from "../client/client.ts";
import { instantArgument } from "../files/arguments.ts";
import { formatCount } from "../output/amount.ts";
import type { Paint } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { firstLines, formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import type { FEEDBACK_SUMMARY_FLAGS } from "./commands.ts";

export async function feedbackSummary(call: Call<typeof FEEDBACK_SUMMARY_FLAGS>): Promise<undefined> {
  const { flags, json, config, io } = call;
  const nowMs = Date.now();
  const summary = await connect(config).judgments.summary({
    workflowId: flags.workflow,
    agentId: flags.agent,
    nodeId: flags.node,
    from: instantArgument("--from", flags.from, nowMs),
    to: instantArgument("--to", flags.to, nowMs),
    groupBy: flags.groupBy,
  });
  if (json) io.out(JSON.stringify(summary));
  else if (flags.groupBy !== undefined) io.out(feedbackTable(summary, io.paint));
  else io.out(feedbackChart(summary.total, { paint: io.paint, bar: io.outIsTerminal ? "█" : "#" }));
}

interface ChartStyle {
  readonly paint: Paint;
  /** One cell of a bar. */
  readonly bar: string;
}

/** All figures of one group: of people, then of agents and of code. */
export function feedbackChart(figures: FeedbackFigures, style: ChartStyle): string {
  const { runs, agents, code, intervals, imported } = figures;
  const blocks = [
    `${formatCount(runs, "run")} ended in this period.`,
    block("People", figures, style, { intervention: intervals.interventionRate }),
    ...(agents.annotations === 0 ? [] : [block("Agents", agents, style)]),
    ...(code.annotations === 0 ? [] : [block("Code", code, style)]),
    // A host of an earlier version does not send the number.
    ...(imported > 0
      ? [`${style.paint.bold("Imported")}: ${formatCount(imported, "judgment")}, in no figure above`]
      : []),
  ];
  return blocks.join("\n\n");
}

function block(
  who: string,
  figures: ApartFigures,
  style: ChartStyle,
  more: Readonly<Record<string, RateInterval>> = {},
): string {
  const { annotations, annotatedRuns, intervals, labels } = figures;
  const judgments = `${formatCount(annotations, "judgment")} on ${formatCount(annotatedRuns, "run")}`;
  const rates = {
    accuracy: intervals.accuracy,
    correction: intervals.correctionRate,
    flag: intervals.flagRate,
    ...more,
  };
  const parts = [
    `${style.paint.bold(who)}: ${judgments}`,
    ...(figures.ratings.count === 0 ? [] : [histogram(figures, style)]),
    formatTable(["RATE", "SHARE", "95% INTERVAL", "RUNS"], Object.entries(rates).map(rateRow), style.paint),
    ...(Object.keys(labels).length === 0 ? [] : [`Labels: ${labelsText(labels)}`]),
  ];
  return parts.join("\n");
}

const BAR_CELLS = 30;

function histogram({ ratings, ratedRuns }: ApartFigures, { paint, bar }: ChartStyle): string {
  const { count, mean, histogram: counts } = ratings;
  const most = Math.max(...counts);
  const lines = counts.map((n, i) => {
    // A count above 0 has at least one cell.
    const cells = n === 0 ? 0 : Math.max(1, Math.round((n / most) * BAR_CELLS));
    const drawn = cells === 0 ? "" : paint.cyan(bar.repeat(cells));
    return `  ${i + 1}  ${drawn}${" ".repeat(BAR_CELLS - cells)}  ${n}`;
  });
  const over = `${formatCount(count, "rating")} on ${formatCount(ratedRuns, "run")}`;
  return [`Rating ${mean?.toFixed(2) ?? "-"} of 5: ${over}`, ...lines.reverse()].join("\n");
}

function rateRow([name, rate]: readonly [string, RateInterval]): string[] {
  if (rate === null) return [name, "-", "-", "none"];
  return [name, percent(rate.count / rate.of), intervalText(rate), `${rate.count} of ${rate.of}`];
}

const LABELS_SHOWN = 20;

function labelsText(labels: Readonly<Record<string, number>>): string {
  const byCount = Object.entries(labels).sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  const texts = byCount.map(([label, n]) => `${printable(label)} ${n}`);
  return firstLines(texts, LABELS_SHOWN, (left) => `and ${left} others`).join(", ");
}

const HEADINGS = ["FEEDBACK", "RUNS", "JUDGED", "RATING", "ACCURACY", "CORRECTION", "FLAG", "INTERVENTION"];

/** The figures of people: a line for each group and one for all. The number of imported judgments is last, if there are any. */
export function feedbackTable({ groups, total }: FeedbackSummary, paint: Paint): string {
  const hasImports = total.imported > 0;
  const row = (name: string, figures: FeedbackFigures) => [
    ...tableRow(name, figures),
    ...(hasImports ? [String(figures.imported)] : []),
  ];
  const rows = groups.map(({ key, ...figures }) => row(keyText(key), figures));
  return formatTable([...HEADINGS, ...(hasImports ? ["IMPORTED"] : [])], [...rows, row("all", total)], paint);
}

function keyText(key: FeedbackSummary["groups"][number]["key"]): string {
  return Object.values(key)
    .map((part) => (part === null ? "(no agent)" : printable(part)))
    .join(" ");
}

function tableRow(name: string, figures: FeedbackFigures): string[] {
  const { runs, judgedRuns, judgedShare, ratings, intervals } = figures;
  return [
    name,
    String(runs),
    judgedShare === null ? String(judgedRuns) : `${judgedRuns} (${percent(judgedShare)})`,
    ratings.mean === null ? "-" : `${ratings.mean.toFixed(2)} (${ratings.count})`,
    cell(intervals.accuracy),
    cell(intervals.correctionRate),
    cell(intervals.flagRate),
    cell(intervals.interventionRate),
  ];
}

function cell(rate: RateInterval): string {
  return rate === null ? "-" : `${percent(rate.count / rate.of)} [${intervalText(rate)}] ${rate.count}/${rate.of}`;
}

function intervalText({ low, high }: NonNullable<RateInterval>): string {
  return `${percent(low)} to ${percent(high)}`;
}

/** With one decimal, except where it would be 0. */
function percent(share: number): string {
  const hundred = share * 100;
  return `${hundred === 0 || hundred >= 99.95 || Number.isInteger(hundred) ? Math.round(hundred) : hundred.toFixed(1)}%`;
}
