import { matches, type Static, Type } from "../../protocol/schema.ts";
import type { AnsweredTurn, ReviewSession } from "./session.ts";

const Answered = Type.Object({ iteration: Type.Integer(), fingerprint: Type.String(), response: Type.String() });

const SessionFile = Type.Object({
  version: Type.Literal(1),
  sessionID: Type.String(),
  last: Type.Integer({ minimum: 0 }),
  issued: Type.Array(
    Type.Object({
      id: Type.String(),
      aspect: Type.String(),
      description: Type.String(),
      recommendation: Type.String(),
      iterations: Type.Array(Type.Integer()),
      part: Type.String(),
    }),
  ),
  decisions: Type.Array(
    Type.Object({
      iteration: Type.Integer(),
      id: Type.String(),
      status: Type.Union([Type.Literal("accepted"), Type.Literal("rejected"), Type.Literal("partial")]),
      known: Type.Boolean(),
      reason_code: Type.Optional(Type.String()),
      explanation: Type.Optional(Type.String()),
    }),
  ),
  answered: Type.Optional(Answered),
  /** Every answered turn of the present conversation, oldest first. */
  turns: Type.Array(Answered),
  artifact: Type.Optional(
    Type.Object({
      media_type: Type.String(),
      content: Type.Unknown(),
      artifact_ref: Type.Optional(Type.String()),
    }),
  ),
});
type SessionFile = Static<typeof SessionFile>;

export interface StoredSession {
  readonly session: ReviewSession;
  readonly turns: readonly AnsweredTurn[];
}

/** Undefined for a text that is no session. */
export function readSessionFile(text: string): StoredSession | undefined {
  const stored = parsed(text);
  if (stored === undefined) return undefined;
  const { version: _, turns, ...session } = stored;
  return { session: session as ReviewSession, turns };
}

export function sessionFileText(session: ReviewSession, earlier: readonly AnsweredTurn[]): string {
  return `${JSON.stringify({ version: 1, ...session, turns: turnsWith(session.answered, earlier) }, null, 2)}\n`;
}

function turnsWith(answered: AnsweredTurn | undefined, earlier: readonly AnsweredTurn[]): readonly AnsweredTurn[] {
  if (answered === undefined) return [];
  return [...earlier.filter(({ iteration }) => iteration < answered.iteration), answered];
}

function parsed(text: string): SessionFile | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return matches(SessionFile, value) ? value : undefined;
  } catch {
    return undefined;
  }
}
