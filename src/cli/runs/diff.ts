import type { RunEventDoc } from "../../protocol/events.ts";
import type { RunDiffResponse, StateDiff } from "../../protocol/runs/fork-api.ts";
import { connect } from "../client/client.ts";
import type { Paint } from "../output/io.ts";
import { printable, printableJson, shorten } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";

export async function runDiff({ args, json, config, io }: Call): Promise<number> {
  const [a = "", b = ""] = args;
  const diff = await connect(config).runs.diff(a, { against: b });
  const columns = io.outIsTerminal ? process.stdout.columns || 120 : Number.POSITIVE_INFINITY;
  io.out(json ? JSON.stringify(diff) : showDiff(diff, io.paint, columns));
  return differs(diff) ? EXIT.negative : EXIT.fine;
}

function differs({ eventDiffs, stateDiff }: RunDiffResponse): boolean {
  return eventDiffs.length > 0 || Object.keys(stateDiff).length > 0;
}

/** A diff as text: `-` is of the first run, `+` of the second. */
export function showDiff(diff: RunDiffResponse, paint: Paint, columns: number): string {
  const { a, b, divergedAtSeq, eventDiffs, truncated } = diff;
  const lines = [paint.red(`--- ${a}`), paint.green(`+++ ${b}`)];
  if (!differs(diff)) lines.push("Nothing differs.");
  else if (divergedAtSeq !== null) lines.push(`They differ from sequence ${divergedAtSeq} on.`);
  for (const { seq, aEvent, bEvent } of eventDiffs) {
    lines.push(paint.cyan(`@@ ${seq} @@`));
    if (aEvent !== undefined) lines.push(paint.red(shorten(`- ${eventLine(aEvent as RunEventDoc)}`, columns)));
    if (bEvent !== undefined) lines.push(paint.green(shorten(`+ ${eventLine(bEvent as RunEventDoc)}`, columns)));
  }
  lines.push(...stateLines(diff.stateDiff, paint, columns));
  if (truncated)
    lines.push(paint.yellow("Not everything was compared: a run has not ended, or they differ in too much."));
  return lines.join("\n");
}

function eventLine({ type, nodeId, payload }: RunEventDoc): string {
  return [printable(type), printable(nodeId ?? ""), printableJson(payload)].filter((part) => part !== "").join("  ");
}

function stateLines(stateDiff: StateDiff, paint: Paint, columns: number): string[] {
  const { status, variables = {}, channels = {} } = stateDiff;
  const rows = [
    ...(status === undefined ? [] : [["status", status] as const]),
    ...Object.entries(variables).map(([name, sides]) => [`variable ${name}`, sides] as const),
    ...Object.entries(channels).map(([name, sides]) => [`channel ${name}`, sides] as const),
  ];
  return rows.flatMap(([name, sides]) => [
    paint.cyan(`@@ ${printable(name)} @@`),
    ...("a" in sides ? [paint.red(shorten(`- ${printableJson(sides.a)}`, columns))] : []),
    ...("b" in sides ? [paint.green(shorten(`+ ${printableJson(sides.b)}`, columns))] : []),
  ]);
}
