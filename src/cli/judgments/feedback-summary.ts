import { connect } from "../client/client.ts";
import { instantArgument } from "../files/arguments.ts";
import { feedbackChart, feedbackTable } from "../output/feedback-chart.ts";
import type { Call } from "../program/command.ts";
import type { FEEDBACK_SUMMARY_FLAGS } from "./feedback-commands.ts";

export async function feedbackSummary(call: Call<typeof FEEDBACK_SUMMARY_FLAGS>): Promise<undefined> {
  const { flags, json, config, io } = call;
  const nowMs = Date.now();
  const query = {
    workflowId: flags.workflow,
    agentId: flags.agent,
    nodeId: flags.node,
    from: instantArgument("--from", flags.from, nowMs),
    to: instantArgument("--to", flags.to, nowMs),
    groupBy: flags.groupBy,
  };
  const summary = await connect(config).judgments.summary(query);
  if (json) io.out(JSON.stringify(summary));
  else if (flags.groupBy !== undefined) io.out(feedbackTable(summary, io.paint));
  else io.out(feedbackChart(summary.total, { paint: io.paint, bar: io.outIsTerminal ? "█" : "#" }));
}
