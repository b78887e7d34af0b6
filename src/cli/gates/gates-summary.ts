import type { GateFigures } from "../../protocol/gates/inbox-api.ts";
import { connect } from "../client/client.ts";
import { instantArgument } from "../files/arguments.ts";
import { formatDuration } from "../output/amount.ts";
import { printable } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import type { GATES_SUMMARY_FLAGS } from "./commands.ts";

export async function gatesSummary(call: Call<typeof GATES_SUMMARY_FLAGS>): Promise<undefined> {
  const { flags, json, config, io } = call;
  const nowMs = Date.now();
  const query = {
    workflowId: flags.workflow,
    from: instantArgument("--from", flags.from, nowMs),
    to: instantArgument("--to", flags.to, nowMs),
    groupBy: flags.by,
  };
  const summary = await connect(config).gates.summary(query);
  if (json) {
    io.out(JSON.stringify(summary));
    return;
  }
  const rows = summary.groups.map(({ key, ...figures }) => rowOf(printable(Object.values(key).join(" ")), figures));
  io.out(formatTable(HEADINGS, [...rows, rowOf("all", summary.total)], io.paint));
}

const HEADINGS = ["GATES", "OPENED", "DECIDED", "REJECTED", "TIMED OUT", "OVERRIDDEN", "MEDIAN", "P95", "UNDER 10 S"];

function rowOf(name: string, figures: GateFigures): string[] {
  return [
    name,
    String(figures.opened),
    String(figures.decided),
    String(figures.rejected),
    withShare(figures.timedOut, figures.timeoutShare),
    withShare(figures.overridden, figures.overrideShare),
    seconds(figures.medianSeconds),
    seconds(figures.p95Seconds),
    String(figures.underTenSeconds),
  ];
}

function withShare(count: number, share: number | null): string {
  return count === 0 || share === null ? String(count) : `${count} (${Math.round(share * 100)}%)`;
}

function seconds(value: number | null): string {
  return value === null ? "-" : formatDuration(value * 1000);
}
