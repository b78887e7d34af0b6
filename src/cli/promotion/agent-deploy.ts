import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../../protocol/errors.ts";
import type { AgentDeployment, Condition, DeploymentTransition } from "../../protocol/promotion/api.ts";
import { type Client, connect } from "../client/client.ts";
import { evalNamed } from "../evals/latest-eval.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import type { Call, FlagValues } from "../program/command.ts";
import { appErrorLine } from "../program/error-line.ts";
import { EXIT, exitCodeOf } from "../program/exit-codes.ts";
import { namedAgent, orNearest } from "../program/nearest-name.ts";
import { deploymentFields } from "./agent-deployments.ts";
import type { DEPLOY_FLAGS } from "./commands.ts";

const ASK_AGAIN_MS = 1000;

type DeployFlags = FlagValues<typeof DEPLOY_FLAGS>;

export async function agentDeploy({ args, flags, json, config, io }: Call<typeof DEPLOY_FLAGS>): Promise<number> {
  const [agentId = "", version = ""] = args;
  const request = requestOf(version, flags);
  try {
    const client = connect(config);
    const asked = deploy(client, agentId, await withEval(client, agentId, request), {
      waitSeconds: flags.wait ?? 0,
      io,
    });
    const record = await orNearest(asked, namedAgent(client, agentId));
    io.out(json ? JSON.stringify(record) : deploymentFields(record, io.paint));
    return EXIT.fine;
  } catch (error) {
    if (!(error instanceof AppError) || !isRefusal(error)) throw error;
    if (json) io.err(appErrorLine(error, json));
    else explain(error, io);
    return exitOf(error);
  }
}

function requestOf(version: string, flags: DeployFlags): DeploymentTransition {
  const { to, pause, deprecate, rollback, channel, canary, reason } = flags;
  const words = [
    ...(to === undefined ? [] : ["promote" as const]),
    ...(pause ? ["pause" as const] : []),
    ...(deprecate ? ["deprecate" as const] : []),
    ...(rollback ? ["rollback" as const] : []),
  ];
  const transition = words[0] ?? (canary === undefined ? undefined : "adjust-canary");
  if (transition === undefined || words.length > 1) {
    throw new AppError("unusable_input", {
      problem: "say what is to happen with one of --to STATE, --pause, --deprecate, --rollback, or --canary PERCENT",
    });
  }
  return {
    version,
    transition,
    ...(to === undefined ? {} : { toState: to }),
    ...(channel === undefined ? {} : { channel }),
    ...(canary === undefined ? {} : { canaryPercent: canary }),
    ...(flags.eval === undefined ? {} : { evalRunId: flags.eval }),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** `--eval latest` is the newest evaluation of this agent that has completed. */
async function withEval(client: Client, agentId: string, request: DeploymentTransition): Promise<DeploymentTransition> {
  if (request.evalRunId === undefined) return request;
  return { ...request, evalRunId: await evalNamed(client, request.evalRunId, { agentId, status: "completed" }) };
}

/** Asks again while people have not decided, for as long as it may. */
async function deploy(
  client: Client,
  agentId: string,
  body: DeploymentTransition,
  { waitSeconds, io }: { readonly waitSeconds: number; readonly io: Io },
): Promise<AgentDeployment> {
  const untilMs = Date.now() + waitSeconds * 1000;
  for (let told = false; ; told = true) {
    try {
      return await client.promotion.transition(agentId, body);
    } catch (error) {
      if (!(error instanceof AppError) || !isWaiting(error) || Date.now() >= untilMs) throw error;
      if (!told) io.err(`Waiting for people: assay resolve ${gateOf(error)} accept|reject decides it.`);
      await sleep(Math.min(ASK_AGAIN_MS, Math.max(0, untilMs - Date.now())));
    }
  }
}

function isWaiting({ code, details }: AppError): boolean {
  return code === "run_state_conflict" && details["waiting"] === true;
}

function gateOf({ details }: AppError): string {
  return printable(`${String(details["runId"])} ${String(details["gateId"])}`);
}

function isRefusal({ details }: AppError): boolean {
  return Array.isArray(details["conditions"]);
}

function exitOf(error: AppError): number {
  if (isWaiting(error)) return EXIT.noVerdict;
  const byPeople = error.code === "forbidden" && error.details["gateId"] !== undefined;
  return byPeople || error.code === "eval_gate_unmet" ? EXIT.negative : exitCodeOf(error);
}

/** Every condition as a line, so that nobody has to find out one after the other. */
function explain(error: AppError, io: Io): void {
  io.err(`error: ${isWaiting(error) ? "Not deployed yet: people are asked." : "Not deployed."}`);
  for (const one of error.details["conditions"] as readonly Condition[]) io.err(`  ${lineOf(one, io)}`);
  const { runId } = error.details;
  if (isWaiting(error)) {
    io.err(`Decide it with: assay resolve ${gateOf(error)} accept|reject. Then send the same command again.`);
  } else if (typeof runId === "string") io.err(`More: assay run show ${printable(runId)}`);
}

function lineOf({ condition, wanted, found, met }: Condition, { paint }: Io): string {
  const said = met ? `${condition}: ${found}` : `${condition}: ${found}; needed: ${wanted}`;
  return `${met ? paint.green("✓") : paint.red("✗")} ${printable(said.replace(HASH, "$1…"))}`;
}

/** Enough of a hash to see that two are not the same. */
const HASH = /\b([0-9a-f]{12})[0-9a-f]{52}\b/g;
