import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ReviewRequest, readRequest } from "../../formats/reviews/request.ts";
import { AppError } from "../../protocol/errors.ts";
import { isUsableSession } from "../../reviews/requester/session-id.ts";
import { takeTurn } from "../../reviews/requester/take-turn.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import { interruptible } from "../program/interruptible.ts";
import { answerText, failureText, headline } from "./answer-text.ts";
import { carrierFor, isForkedBy, providerOf, retriesOf, workDirOf } from "./provider.ts";
import type { REVIEW_TURN_FLAGS } from "./review-ask-commands.ts";
import { turnJson } from "./turn-json.ts";

export async function takeRawTurn(call: Call<typeof REVIEW_TURN_FLAGS>): Promise<number> {
  const { flags, config, json, io } = call;
  const turn = { ...requestIn(flags.request), session: sessionOf(flags.session) };
  const provider = providerOf(call);
  const carrier = carrierFor({ provider, directory: workDirOf(flags), title: "Review", config });
  const { random, waitsMs } = retriesOf(config);
  const retries = { random, waitsMs: flags.noRetry ? [] : waitsMs };
  const { strict, allowOtherAgent, requireCleanExit } = flags;
  const folder = await mkdtemp(join(tmpdir(), "assay-review-"));
  const log = { begin: async () => join(folder, "stream.ndjson"), end: async () => {} };
  try {
    return await interruptible(io, "Nothing was kept.", async (signal) => {
      const settings = {
        carrier,
        retries,
        signal,
        forked: isForkedBy(provider),
        strict,
        allowOtherAgent,
        requireCleanExit,
      };
      const attempt = await takeTurn(turn, settings, log);
      const { response, ids } = attempt;
      if (json) io.out(JSON.stringify(turnJson(attempt)));
      else if (response?.status === "success") {
        io.out(io.paint.bold(headline(attempt.sessionID ?? "no session", turn.request.iteration, ids)));
        io.out(`\n${answerText(response, io.paint)}`);
      } else io.err(`error: ${failureText(attempt)}.`);
      return attempt.outcome === "response_success" ? EXIT.fine : EXIT.negative;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Line breaks stand only between the parts of a JSON text, so it can be one line without being written anew. */
function requestIn(path: string | undefined): { readonly request: ReviewRequest; readonly line: string } {
  if (path === undefined) throw new AppError("unusable_input", { problem: "--request FILE is needed" });
  let bytes: Buffer;
  try {
    bytes = readFileSync(path === "-" ? 0 : path);
  } catch (error) {
    throw new AppError("unusable_input", { problem: `${path} cannot be read: ${(error as Error).message}` });
  }
  const checked = readRequest(bytes);
  if (checked.ok)
    return {
      request: checked.request,
      line: new TextDecoder()
        .decode(bytes)
        .trim()
        .replace(/[\r\n]+/g, " "),
    };
  throw new AppError("review_request_refused", { problem: checked.message, check: checked.problem });
}

function sessionOf(given: string | undefined): string | undefined {
  if (given === undefined || isUsableSession(given)) return given;
  const problem = "--session cannot be passed on: it is empty, too long, begins with - or holds blanks";
  throw new AppError("unusable_input", { problem });
}
