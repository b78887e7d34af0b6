import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type ReviewRequest, readRequest } from "../../formats/reviews/request.ts";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import { type Asked, ask, resume } from "../../reviews/requester/ask.ts";
import type { Conversation } from "../../reviews/requester/conversation.ts";
import type { ConversationFiles } from "../../reviews/requester/conversation-files.ts";
import { withConversation } from "../../reviews/requester/held-conversation.ts";
import { loop, reactionOf } from "../../reviews/requester/loop.ts";
import { findReview } from "../../reviews/requester/reviews-folder.ts";
import { isUsableSession } from "../../reviews/requester/run-command.ts";
import { takeTurn } from "../../reviews/requester/take-turn.ts";
import { printable } from "../output/printable.ts";
import { programName } from "../paths.ts";
import type { Call } from "../program/command.ts";
import { EXIT, interruptible } from "../program/exit-codes.ts";
import { answerText, askedJson, endingText, failureText, headline, showAsked, turnJson } from "./answer.ts";
import type { REVIEW_LOOP_FLAGS, REVIEW_NEXT_FLAGS, REVIEW_START_FLAGS, REVIEW_TURN_FLAGS } from "./commands.ts";
import {
  holdingOf,
  mediaTypeFor,
  type NamedFolder,
  newConversation,
  readWork,
  rootOf,
  sameDir,
  writeWork,
} from "./conversation.ts";
import {
  askingFor,
  carrierFor,
  isForkedBy,
  limitsOf,
  providerEnvironment,
  providerOf,
  retriesOf,
  workDirOf,
} from "./provider.ts";

export async function startReview(call: Call<typeof REVIEW_START_FLAGS>): Promise<number> {
  const { args, flags, config } = call;
  const [path = ""] = args;
  const artifact = await readWork(path, mediaTypeFor(path, flags.mediaType), flags.artifactRef);
  const created = await newConversation(call);
  return oneTurn(call, created, (held, files, signal) => ask(held, artifact, files, askingFor(held, config, signal)));
}

export async function nextTurn(call: Call<typeof REVIEW_NEXT_FLAGS>): Promise<number> {
  const { args, flags } = call;
  const found = await findReview(rootOf(flags), args[0] ?? "");
  return oneTurn(call, found, (held, files, signal) => takeNext(held, files, call, signal));
}

/** One turn of a conversation on disk, which is locked meanwhile; shows its outcome. */
function oneTurn(
  { config, json, io }: Pick<Call, "config" | "json" | "io">,
  { review, folder }: NamedFolder,
  take: (held: Conversation, files: ConversationFiles, signal: AbortSignal) => Promise<Asked>,
): Promise<number> {
  const hint = `\`${programName()} review next ${review}${sameDir(folder)}\` sends the turn again.`;
  return interruptible(io, hint, async (signal) => {
    io.progress(`${review}: waiting for the answer …`);
    const asked = await withConversation(folder, review, holdingOf(config), (held, files) => take(held, files, signal));
    if (!json) return showAsked(asked, sameDir(folder), io);
    io.out(JSON.stringify(askedJson(asked, folder)));
    const isFine = asked.attempt === undefined || asked.attempt.outcome === "response_success";
    return isFine ? EXIT.fine : EXIT.negative;
  });
}

async function takeNext(
  conversation: Conversation,
  files: ConversationFiles,
  { args, flags, config }: Call<typeof REVIEW_NEXT_FLAGS>,
  signal: AbortSignal,
): Promise<Asked> {
  const asking = askingFor(conversation, config, signal);
  const resumed = await resume(conversation, files, asking);
  if (resumed !== undefined) return resumed;
  const { review, status, reason } = conversation;
  if (status !== "open" && !flags.reopen) {
    throw new AppError("review_ended", { review, ending: endingText(status, reason) });
  }
  const path = args[1] === undefined ? conversation.artifact.path : resolve(args[1]);
  const { media_type } = conversation.artifact;
  const work = await readWork(path, media_type, flags.artifactRef);
  const current: Conversation = { ...conversation, artifact: { path, media_type }, status: "open", reason: null };
  return ask(current, work, files, asking);
}

export async function loopReview(call: Call<typeof REVIEW_LOOP_FLAGS>): Promise<number> {
  const { args, flags, config, json, io } = call;
  const program = flags.onFeedback;
  if (program === undefined) throw unusableInput("--on-feedback PROGRAM is missing");
  const path = resolve(args[0] ?? "");
  const mediaType = mediaTypeFor(path, flags.mediaType);
  const first = await readWork(path, mediaType, flags.artifactRef);
  const { conversation, review, folder } = await newConversation(call);
  const { directory } = conversation;
  const hint = `\`${programName()} review show ${review}${sameDir(folder)}\` shows its state.`;
  return interruptible(io, hint, async (signal) => {
    const environment = providerEnvironment();
    const reacting = { program, args: flags.onFeedbackArg, directory, environment, limits: limitsOf(config), signal };
    const asked = await withConversation(folder, review, holdingOf(config), (held, files) =>
      loop(held, first, files, {
        ...askingFor(held, config, signal),
        react: (given, type) => reactionOf(given, type, reacting),
        readArtifact: () => readWork(path, mediaType, undefined),
        onAnswer: async (one) => showTurn(one, call),
        onArtifact: (artifact) => (flags.write ? writeWork(path, artifact) : Promise.resolve()),
        now: () => new Date().toISOString(),
      }),
    );
    const { status, reason } = asked.conversation;
    if (json) io.out(JSON.stringify(askedJson(asked, folder)));
    else if (status !== "failed") io.out(`The review of ${printable(path)} is over: ${endingText(status, reason)}.`);
    return status === "failed" ? EXIT.negative : EXIT.fine;
  });
}

function showTurn({ conversation, attempt }: Asked, { json, io }: Call<typeof REVIEW_LOOP_FLAGS>): void {
  if (json || attempt === undefined) return;
  const { review, next_iteration } = conversation;
  if (attempt.outcome !== "response_success") io.err(`error: ${review}: ${failureText(attempt)}.`);
  else io.out(headline(review, next_iteration - 1, attempt.ids));
}

export async function takeRawTurn(call: Call<typeof REVIEW_TURN_FLAGS>): Promise<number> {
  const { flags, config, json, io } = call;
  const turn = { ...requestIn(flags.request), session: sessionOf(flags.session) };
  const provider = providerOf(call);
  const carrier = carrierFor({ provider, directory: workDirOf(flags), title: "Review", config });
  const { random, waitsMs } = retriesOf(config);
  const retries = { random, waitsMs: flags.noRetry ? [] : waitsMs };
  const { strict, allowOtherAgent, requireCleanExit } = flags;
  const settings = { carrier, retries, forked: isForkedBy(provider), strict, allowOtherAgent, requireCleanExit };
  const folder = await mkdtemp(join(tmpdir(), "assay-review-"));
  const log = { begin: async () => join(folder, "stream.ndjson"), end: async () => {} };
  try {
    return await interruptible(io, "Nothing was stored.", async (signal) => {
      const attempt = await takeTurn(turn, { ...settings, signal }, log);
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

/** The request in a file, and its text as one line: line breaks occur only between the parts of a JSON text. */
function requestIn(path: string | undefined): { readonly request: ReviewRequest; readonly line: string } {
  if (path === undefined) throw unusableInput("--request FILE is missing");
  let bytes: Buffer;
  try {
    bytes = readFileSync(path === "-" ? 0 : path);
  } catch (error) {
    throw unusableInput(`${path} cannot be read: ${(error as Error).message}`);
  }
  const checked = readRequest(bytes);
  if (!checked.ok) throw new AppError("review_request_refused", { problem: checked.message, check: checked.problem });
  const text = new TextDecoder().decode(bytes).trim();
  return { request: checked.request, line: text.replace(/[\r\n]+/g, " ") };
}

function sessionOf(given: string | undefined): string | undefined {
  if (given === undefined || isUsableSession(given)) return given;
  throw unusableInput("--session cannot be passed on: it is empty, too long, begins with - or holds blanks");
}
