import { setTimeout as sleep } from "node:timers/promises";
import { defined } from "../../protocol/defined.ts";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import type { AgentDeployment, Condition, DeploymentTransition, TransitionWord } from "../../protocol/promotion/api.ts";
import { type Client, connect } from "../client/client.ts";
import { evalNamed } from "../evals/latest-eval.ts";
import type { Io, Paint } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { formatFields, formatTable, printableFields } from "../output/table.ts";
import type { Call, FlagValues } from "../program/command.ts";
import { appErrorLine } from "../program/error-line.ts";
import { EXIT, exitCodeOf } from "../program/exit-codes.ts";
import { namedAgent, orNearest } from "../program/nearest-name.ts";
import type { DEPLOY_FLAGS } from "./commands.ts";

const RETRY_MS = 1000;

export async function agentDeploy({ args, flags, json, config, io }: Call<typeof DEPLOY_FLAGS>): Promise<number> {
  const [agentId = "", version = ""] = args;
  const request = requestOf(version, flags);
  try {
    const client = connect(config);
    const { evalRunId: named } = request;
    const evalRunId = named && (await evalNamed(client, named, { agentId, status: "completed" }));
    const transition = { ...request, ...defined({ evalRunId }) };
    const asked = deploy(client, agentId, transition, { waitSeconds: flags.wait ?? 0, io });
    const record = await orNearest(asked, namedAgent(client, agentId));
    io.out(json ? JSON.stringify(record) : deploymentFields(record, io.paint));
    return EXIT.fine;
  } catch (error) {
    const conditions = error instanceof AppError ? error.details["conditions"] : undefined;
    if (!(error instanceof AppError && Array.isArray(conditions))) throw error;
    if (json) io.err(appErrorLine(error, json));
    else explain(error, conditions.filter(isCondition), io);
    return exitOf(error);
  }
}

function requestOf(version: string, flags: FlagValues<typeof DEPLOY_FLAGS>): DeploymentTransition {
  const { to, pause, deprecate, rollback, channel, canary, eval: evalRunId, reason } = flags;
  const words: TransitionWord[] = [];
  if (to !== undefined) words.push("promote");
  if (pause) words.push("pause");
  if (deprecate) words.push("deprecate");
  if (rollback) words.push("rollback");
  if (words.length === 0 && canary !== undefined) words.push("adjust-canary");
  const [transition] = words;
  if (transition === undefined || words.length > 1) {
    const choice = "--to STATE, --pause, --deprecate, --rollback, or --canary PERCENT";
    throw unusableInput(`say what is to happen with one of ${choice}`);
  }
  return defined({ version, transition, toState: to, channel, canaryPercent: canary, evalRunId, reason });
}

/** Sends the transition again while approvers have not decided, until the time to wait is over. */
async function deploy(
  client: Client,
  agentId: string,
  transition: DeploymentTransition,
  { waitSeconds, io }: { readonly waitSeconds: number; readonly io: Io },
): Promise<AgentDeployment> {
  const untilMs = Date.now() + waitSeconds * 1000;
  for (let attempt = 1; ; attempt++) {
    try {
      return await client.promotion.transition(agentId, transition);
    } catch (error) {
      if (!(error instanceof AppError) || !isWaiting(error) || Date.now() >= untilMs) throw error;
      if (attempt === 1) io.err(`Waiting for approval: assay resolve ${gateOf(error)} accept|reject decides it.`);
      await sleep(Math.min(RETRY_MS, Math.max(0, untilMs - Date.now())));
    }
  }
}

function isWaiting({ code, details }: AppError): boolean {
  return code === "run_state_conflict" && details["waiting"] === true;
}

function gateOf({ details }: AppError): string {
  return printable(`${String(details["runId"])} ${String(details["gateId"])}`);
}

function exitOf(error: AppError): number {
  if (isWaiting(error)) return EXIT.noVerdict;
  const wasRejected = error.code === "forbidden" && error.details["gateId"] !== undefined;
  return wasRejected || error.code === "eval_gate_unmet" ? EXIT.negative : exitCodeOf(error);
}

/** Prints a line for every condition: a refusal names all that is missing, not only the first. */
function explain(error: AppError, conditions: readonly Condition[], io: Io): void {
  io.err(`error: ${isWaiting(error) ? "Not deployed yet: it waits for approval." : "Not deployed."}`);
  for (const one of conditions) io.err(`  ${lineOf(one, io)}`);
  const { runId } = error.details;
  if (isWaiting(error)) {
    io.err(`Decide it with: assay resolve ${gateOf(error)} accept|reject. Then send the same command again.`);
  } else if (typeof runId === "string") io.err(`More: assay run show ${printable(runId)}`);
}

function isCondition(value: unknown): value is Condition {
  const { condition, wanted, found, met } = (value ?? {}) as Partial<Record<keyof Condition, unknown>>;
  return typeof met === "boolean" && [condition, wanted, found].every((text) => typeof text === "string");
}

function lineOf({ condition, wanted, found, met }: Condition, { paint }: Io): string {
  const text = met ? `${condition}: ${found}` : `${condition}: ${found}; needed: ${wanted}`;
  return `${met ? paint.green("✓") : paint.red("✗")} ${printable(text.replace(HASH, "$1…"))}`;
}

/** A SHA-256, of which the beginning is shown: enough to see that two differ. */
const HASH = /\b([0-9a-f]{12})[0-9a-f]{52}\b/g;

export async function agentDeployments({ args: [agentId = ""], json, config, io }: Call): Promise<undefined> {
  const client = connect(config);
  const deployments = await orNearest(client.promotion.deployments(agentId), namedAgent(client, agentId));
  if (json) return void io.out(JSON.stringify(deployments));
  const rows = deployments.map((one) => {
    const { version, state, channels = ["-"], evalRunId = "-", approvalGateId = "-" } = one;
    return [version, state, channels.join(", "), shareOf(one) ?? "-", evalRunId, approvalGateId].map(printable);
  });
  io.out(formatTable(["VERSION", "STATE", "CHANNELS", "SHARE", "EVALUATION", "GATE"], rows, io.paint));
  return undefined;
}

function deploymentFields(record: AgentDeployment, paint: Paint): string {
  const fields = printableFields({
    agent: record.agentId,
    version: record.version,
    state: record.state,
    channels: record.channels?.join(", "),
    share: shareOf(record),
    "gave way to": record.rollbackPointer,
    evaluation: record.evalRunId,
    gate: record.approvalGateId,
  });
  return formatFields(fields, paint);
}

function shareOf({ canaryPercent, channels }: AgentDeployment): string | undefined {
  return channels === undefined ? undefined : `${canaryPercent ?? 100} %`;
}
