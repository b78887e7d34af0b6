import type { AgreementFigures, QueueAgreement } from "../../protocol/queues/agreement-api.ts";
import { formatCount, formatShare } from "../output/amount.ts";
import type { Paint } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { formatFields, formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import type { QUEUE_AGREEMENT_FLAGS } from "./commands.ts";
import { namedQueue } from "./queues.ts";

export async function queueAgreement(call: Call<typeof QUEUE_AGREEMENT_FLAGS>): Promise<undefined> {
  const { flags, json, io } = call;
  const { client, queue } = await namedQueue(call);
  const agreement = await client.queues.agreement(queue.queueId, { include: flags.agents ? "agents" : undefined });
  io.out(json ? JSON.stringify(agreement) : showAgreement(agreement, io.paint));
}

function showAgreement(agreement: QueueAgreement, paint: Paint): string {
  const { people, agents, all } = agreement;
  return [
    settledText(agreement, paint),
    figuresText("People", people, paint),
    ...(agents === undefined ? [] : [figuresText("Agents", agents, paint)]),
    ...(all === undefined ? [] : [figuresText("People and agents", all, paint)]),
  ].join("\n\n");
}

function settledText(agreement: QueueAgreement, paint: Paint): string {
  const { settled, disputedShare, disputedInterval, withdrawn, revised, complete } = agreement;
  const { agreed, disputed, adjudicated } = settled;
  const share =
    disputedShare === null || disputedInterval === null
      ? "none settled yet"
      : `${formatShare(disputedShare)} of ${agreed + disputed + adjudicated} (95 %: ${formatShare(disputedInterval.low)} to ${formatShare(disputedInterval.high)})`;
  const fields = {
    Settled: `${agreed} agreed, ${adjudicated} adjudicated, ${disputed} disputed`,
    "Not agreed": share,
    Revised: revised > 0 ? String(revised) : undefined,
    Withdrawn: withdrawn > 0 ? `${withdrawn}, left out` : undefined,
    Incomplete: complete ? undefined : "the queue has more items than were counted",
  };
  return formatFields(fields, paint);
}

function figuresText(title: string, figures: AgreementFigures, paint: Paint): string {
  const { krippendorff: alpha, fleiss, cohen, morePairs } = figures;
  const fields = {
    "Judged by two": `${formatCount(figures.items, "item")}, ${figures.agreed} of them alike`,
    [`Krippendorff's alpha (${alpha.metric})`]: figureText(alpha, formatCount(alpha.ratings, "judgment")),
    "Fleiss' kappa": figureText(fleiss, formatCount(fleiss.items, "item")),
  };
  const facts = formatFields(fields, paint);
  const rows = cohen.map((pair) => [
    printable(pair.reviewers.join(" and ")),
    String(pair.items),
    pair.value === null ? (pair.reason ?? "-") : pair.value.toFixed(3),
    pair.interval === null ? "-" : `${pair.interval.low.toFixed(3)} to ${pair.interval.high.toFixed(3)}`,
  ]);
  const table =
    rows.length === 0 ? [] : [formatTable(["PAIR", "ITEMS", "COHEN'S KAPPA", "95 % (STANDARD ERROR)"], rows, paint)];
  return [paint.bold(title), facts, ...table, ...(morePairs > 0 ? [`and ${morePairs} more pairs`] : [])].join("\n");
}

const REASONS: Readonly<Record<string, string>> = {
  no_common_items: "undefined: no item was judged by two",
  unequal_counts: "undefined: items have different numbers of judgments",
  no_variation: "undefined: all judgments are the same",
};

function figureText({ value, reason = "" }: { value: number | null; reason?: string }, of: string): string {
  return value === null ? (REASONS[reason] ?? "undefined") : `${value.toFixed(3)} (${of})`;
}
