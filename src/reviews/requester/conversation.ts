import { sortedJson } from "../../formats/json/canonical-json.ts";
import { parsedJson } from "../../formats/json/check-json.ts";
import { type Decision, PROTOCOL_VERSION, type ReviewRequest } from "../../formats/reviews/request.ts";
import { sha256 } from "../../formats/text/sha256.ts";
import { defined } from "../../protocol/defined.ts";
import { Count, firstProblem, matches, type Static, Type } from "../../protocol/schema.ts";

const Status = Type.Union([
  Type.Literal("open"),
  Type.Literal("converged"),
  Type.Literal("stopped"),
  Type.Literal("failed"),
]);

const Provider = Type.Union([
  Type.Object({
    program: Type.String({ minLength: 1 }),
    args: Type.Array(Type.String()),
    agent: Type.String(),
    takes_directory: Type.Boolean(),
  }),
  Type.Object({ url: Type.String({ minLength: 1 }), agent: Type.String() }),
]);

const LatestDecision = Type.Object({
  status: Type.Union([Type.Literal("accepted"), Type.Literal("rejected"), Type.Literal("partial")]),
  reason_code: Type.Optional(Type.String()),
  explanation: Type.Optional(Type.String()),
  /** The turn in which it is sent. */
  iteration: Count,
  at: Type.String(),
});

/** The record of one conversation in `state.json`: readable without this program. */
export const Conversation = Type.Object({
  version: Type.Literal(1),
  review: Type.String({ minLength: 1 }),
  created_at: Type.String(),
  session_id: Type.Union([Type.String(), Type.Null()]),
  /** The directory in which the command runs, in every turn. */
  directory: Type.String({ minLength: 1 }),
  command: Provider,
  artifact: Type.Object({ path: Type.String({ minLength: 1 }), media_type: Type.String({ minLength: 1 }) }),
  next_iteration: Type.Integer({ minimum: 1 }),
  /** Every remark that was made, in the order of first appearance. */
  remarks: Type.Array(
    Type.Object({ id: Type.String(), aspect: Type.Optional(Type.String()), iterations: Type.Array(Count) }),
  ),
  decisions: Type.Record(Type.String(), LatestDecision),
  artifacts: Type.Array(
    Type.Object({ iteration: Count, artifact_ref: Type.String(), digest: Type.String(), added: Count, removed: Count }),
  ),
  /** The length of the log of decisions, and the position of those of the present session. */
  decisions_bytes: Count,
  decisions_from: Count,
  status: Status,
  reason: Type.Union([Type.String(), Type.Null()]),
  /** The number of attempts in the figures below. */
  attempts: Count,
  spent: Type.Object({ tokens: Type.Number(), cost: Type.Number(), ms: Type.Number() }),
  limits: Type.Object({
    max_iterations: Type.Integer({ minimum: 1 }),
    max_tokens: Type.Optional(Type.Number()),
    max_cost: Type.Optional(Type.Number()),
    max_ms: Type.Optional(Type.Number()),
  }),
  options: Type.Object({
    strict: Type.Optional(Type.Boolean()),
    allow_other_agent: Type.Optional(Type.Boolean()),
    require_clean_exit: Type.Optional(Type.Boolean()),
    on_lost_session: Type.Optional(Type.Literal("restart")),
  }),
});
export type Conversation = Static<typeof Conversation>;
export type Provider = Static<typeof Provider>;
export type LatestDecision = Static<typeof LatestDecision>;
export type KnownRemark = Conversation["remarks"][number];

export const DEFAULT_MAX_ITERATIONS = 5;

export type ReadConversation =
  | { readonly ok: true; readonly conversation: Conversation }
  | { readonly ok: false; readonly problem: string };

export function readConversation(text: string): ReadConversation {
  const value = parsedJson(text);
  if (value === undefined) return { ok: false, problem: "it is not JSON" };
  if (matches(Conversation, value)) return { ok: true, conversation: value };
  return { ok: false, problem: firstProblem(Conversation, value, "") };
}

export function conversationText(conversation: Conversation): string {
  return `${JSON.stringify(conversation, null, 2)}\n`;
}

/** Remarks of the last success answer. */
export function openRemarks({ remarks, next_iteration }: Conversation): KnownRemark[] {
  return remarks.filter(({ iterations }) => iterations.includes(next_iteration - 1));
}

/** Decisions for the next request. */
export function pendingDecisions({ decisions, next_iteration }: Conversation): Decision[] {
  return Object.entries(decisions)
    .filter(([, { iteration }]) => iteration === next_iteration)
    .map(([id, { status, reason_code, explanation }]) => ({
      id,
      status,
      ...defined({ reason_code, explanation }),
    }));
}

export function undecided(conversation: Conversation): string[] {
  const decided = new Set(pendingDecisions(conversation).map(({ id }) => id));
  return openRemarks(conversation)
    .map(({ id }) => id)
    .filter((id) => !decided.has(id));
}

export interface ArtifactVersion {
  readonly media_type: string;
  readonly content: unknown;
  readonly artifact_ref: string;
}

export function nextRequest(conversation: Conversation, artifact: ArtifactVersion): ReviewRequest {
  const { next_iteration: iteration } = conversation;
  const items = pendingDecisions(conversation);
  return {
    protocol_version: PROTOCOL_VERSION,
    iteration,
    artifact: { ...artifact },
    ...(iteration > 1 ? { applied_feedback: { items } } : {}),
  };
}

/** Stands for a content: equal when it is, of the bytes of a text and of the sorted JSON of anything else. */
export function digestOf(content: unknown): string {
  const text = typeof content === "string" ? content : sortedJson(content);
  return `sha256:${sha256(text)}`;
}

/** The content as lines, for comparison. */
export function linesOfContent(content: unknown): string {
  return typeof content === "string" ? content : `${sortedJson(content, "  ")}\n`;
}
