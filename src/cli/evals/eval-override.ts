import { AppError } from "../../protocol/errors.ts";
import type { JudgeTaskRequest } from "../../protocol/evals/eval-override.ts";
import { textArgument } from "../judgments/annotation-request.ts";
import type { Call } from "../program/command.ts";
import { withBackend } from "./choose-backend.ts";
import { reportOf } from "./eval-backend.ts";
import type { EVAL_OVERRIDE_FLAGS } from "./eval-override-commands.ts";
import { evalNamed } from "./latest-eval.ts";
import { overrideLines } from "./override-text.ts";

export async function evalOverride(call: Call<typeof EVAL_OVERRIDE_FLAGS>): Promise<undefined> {
  const { args, json, io } = call;
  const [named = "", taskId = "", verdict] = args;
  const request = requestOf(verdict, call.flags);
  await withBackend(call, async ({ client }) => {
    const runId = await evalNamed(client, named);
    const view = await client.evals.judgeTask(runId, taskId, request);
    if (json) return io.out(JSON.stringify(view));
    io.out(view.annotationId);
    const { status } = await client.evals.get(runId);
    if (status === "completed") for (const line of overrideLines(await reportOf(client, runId), io.paint)) io.err(line);
  });
}

function requestOf(verdict: string | undefined, flags: Call<typeof EVAL_OVERRIDE_FLAGS>["flags"]): JudgeTaskRequest {
  const { rating, correction, flag, note, supersedes } = flags;
  if (verdict !== undefined && verdict !== "pass" && verdict !== "fail") {
    throw refuse(`a verdict is pass or fail, and not ${verdict}`);
  }
  const said = [verdict, rating, correction, flag || undefined].filter((one) => one !== undefined);
  if (said.length !== 1) throw refuse("say one thing: pass, fail, --rating N, --correction TEXT or --flag");
  return {
    ...(verdict === undefined ? {} : { label: verdict }),
    ...(rating === undefined ? {} : { rating: Number(rating) }),
    ...(correction === undefined ? {} : { correction: textArgument(correction) }),
    ...(flag ? { flag: true as const } : {}),
    ...(note === undefined ? {} : { note }),
    ...(supersedes === undefined ? {} : { supersedes }),
  };
}

function refuse(problem: string): AppError {
  return new AppError("unusable_input", { problem });
}
