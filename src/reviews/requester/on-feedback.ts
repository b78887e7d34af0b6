import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMembers, own } from "../../formats/reviews/field-names.ts";
import {
  checkRequest,
  type Decision,
  isTooDeep,
  PROTOCOL_VERSION,
  REQUEST_DEPTH_MAX,
} from "../../formats/reviews/request.ts";
import { AppError } from "../../protocol/errors.ts";
import { digestOf } from "./artifact.ts";
import type { Limits } from "./carrier.ts";
import type { ArtifactVersion } from "./conversation.ts";
import { runToFile } from "./run-command.ts";

/** A program that acts on an answer: it gets the answer on standard input and writes the new artifact to standard output. */
export interface FeedbackProgram {
  readonly program: string;
  readonly args: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
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
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw useless(program, "what it wrote is not JSON");
  }
  if (!isMembers(value)) throw useless(program, "it must write an object with decisions, and perhaps an artifact");
  const given = own(value, "artifact");
  const named = typeof given === "string" ? { content: given } : given;
  const artifact = named === undefined ? { media_type: mediaType, content: "" } : withType(named, mediaType);
  const items = own(value, "decisions");
  const checked = checkRequest({
    protocol_version: PROTOCOL_VERSION,
    iteration: 2,
    artifact,
    applied_feedback: { items },
  });
  if (!checked.ok) throw useless(program, checked.message.replace("applied_feedback.items", "decisions"));
  const { media_type, content, artifact_ref } = checked.request.artifact;
  const decisions = checked.request.applied_feedback?.items ?? [];
  if (named === undefined) return { decisions };
  return { decisions, artifact: { media_type, content, artifact_ref: artifact_ref ?? digestOf(content) } };
}

function withType(artifact: unknown, media_type: string): unknown {
  return isMembers(artifact) ? { media_type, ...artifact } : artifact;
}

function useless(program: string, problem: string): AppError {
  return new AppError("unusable_input", { problem: `${program} gave no usable reaction: ${problem}` });
}
