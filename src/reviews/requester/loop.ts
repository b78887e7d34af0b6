import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Program } from "../../engine/programs/started-program.ts";
import { parsedJson } from "../../formats/json/check-json.ts";
import {
  checkRequest,
  type Decision,
  isTooDeep,
  PROTOCOL_VERSION,
  REQUEST_DEPTH_MAX,
} from "../../formats/reviews/request.ts";
import { responseOnWire } from "../../formats/reviews/response.ts";
import { type AppError, unusableInput } from "../../protocol/errors.ts";
import { isObject, own } from "../../protocol/own.ts";
import { type Asked, type Asking, ask } from "./ask.ts";
import type { Limits } from "./carrier.ts";
import { type ArtifactVersion, type Conversation, digestOf } from "./conversation.ts";
import type { ConversationFiles } from "./conversation-files.ts";
import { decideRemark } from "./decide-remark.ts";
import { runToFile } from "./run-command.ts";

export interface Looping extends Asking {
  /** Gets an answer with the artifact it is about. */
  readonly react: (given: object, mediaType: string) => Promise<Reaction>;
  /** The artifact as it is now, for reactions that bring none. */
  readonly readArtifact: () => Promise<ArtifactVersion>;
  /** Called with each answer. */
  readonly onAnswer: (asked: Asked) => Promise<void>;
  /** Called with each artifact that a reaction returned. */
  readonly onArtifact: (artifact: ArtifactVersion) => Promise<void>;
  readonly now: () => string;
}

/** Drives a conversation to its end. What was decided is kept before it is sent, so it can also be taken on by hand. */
export async function loop(
  conversation: Conversation,
  first: ArtifactVersion,
  files: ConversationFiles,
  looping: Looping,
): Promise<Asked> {
  let artifact = first;
  let asked = await ask(conversation, artifact, files, looping);
  for (;;) {
    await looping.onAnswer(asked);
    const { conversation: now, attempt } = asked;
    if (now.status !== "open" || attempt?.response === undefined) return asked;
    const { review, next_iteration } = now;
    const response = responseOnWire(attempt.response);
    const given = { review, iteration: next_iteration - 1, artifact, response };
    const reaction = await looping.react(given, artifact.media_type);
    let decided = now;
    for (const decision of reaction.decisions) decided = decideRemark(decided, decision, looping.now());
    await files.save(decided);
    if (reaction.artifact !== undefined) await looping.onArtifact(reaction.artifact);
    artifact = reaction.artifact ?? (await looping.readArtifact());
    asked = await ask(decided, artifact, files, looping);
  }
}

/** A program that acts on an answer: it gets the answer on standard input and writes the new artifact to standard output. */
export interface FeedbackProgram extends Program {
  readonly limits: Limits;
  readonly signal: AbortSignal;
}

export interface Reaction {
  readonly decisions: readonly Decision[];
  /** Absent when the file is to be read again. */
  readonly artifact?: ArtifactVersion;
}

/** Throws `unusable_input` when the program does not give what is asked of it. */
export async function reactionOf(given: object, mediaType: string, program: FeedbackProgram): Promise<Reaction> {
  return readReaction(await outputOf(program, `${JSON.stringify(given)}\n`), mediaType, program.program);
}

async function outputOf(program: FeedbackProgram, input: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "assay-review-"));
  const streamPath = join(folder, "output");
  try {
    const watch = { take: () => {}, lines: 0, answered: false };
    const { signal, limits } = program;
    const sent = await runToFile({ ...program, input }, { streamPath, watch, signal }, limits);
    if (!sent.started) throw useless(program.program, sent.message);
    if (sent.limited) throw useless(program.program, "it took too long, or wrote too much");
    const lastLine = sent.stderr.trim().split("\n").at(-1) ?? "";
    const ending = sent.exitCode === null ? `was ended by ${sent.signal}` : `ended with ${sent.exitCode}`;
    if (sent.exitCode !== 0)
      throw useless(program.program, `it ${ending}${lastLine === "" ? "" : `: ${lastLine.slice(0, 500)}`}`);
    return await readFile(streamPath, "utf8");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The decisions and the artifact are held to the rules for requests, since they become one. */
export function readReaction(text: string, mediaType: string, program: string): Reaction {
  // The nesting limit is that of the request it becomes.
  if (isTooDeep(text)) throw useless(program, `what it wrote is nested deeper than ${REQUEST_DEPTH_MAX}`);
  const value = parsedJson(text);
  if (value === undefined) throw useless(program, "what it wrote is not JSON");
  if (!isObject(value)) throw useless(program, "it must write an object with decisions, and perhaps an artifact");
  const given = own(value, "artifact");
  const named = typeof given === "string" ? { content: given } : given;
  const artifact = named === undefined ? { media_type: mediaType, content: "" } : withType(named, mediaType);
  const items = own(value, "decisions");
  const request = { protocol_version: PROTOCOL_VERSION, iteration: 2, artifact, applied_feedback: { items } };
  const checked = checkRequest(request);
  if (!checked.ok) throw useless(program, checked.message.replace("applied_feedback.items", "decisions"));
  const { media_type, content, artifact_ref } = checked.request.artifact;
  const decisions = checked.request.applied_feedback?.items ?? [];
  if (named === undefined) return { decisions };
  return { decisions, artifact: { media_type, content, artifact_ref: artifact_ref ?? digestOf(content) } };
}

function withType(artifact: unknown, media_type: string): unknown {
  return isObject(artifact) ? { media_type, ...artifact } : artifact;
}

function useless(program: string, problem: string): AppError {
  return unusableInput(`${program} gave no usable reaction: ${problem}`);
}
