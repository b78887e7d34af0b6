import { randomBytes } from "node:crypto";
import { answerStream, type StreamIds } from "../../formats/reviews/wrapper-stream.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const TIME_DIGITS = 12;
const RANDOM_CHARACTERS = 14;
/** Leaves three of the twelve digits to distinguish ids of one millisecond. */
const PER_MILLISECOND = 4096;

export function newSessionID(atMs: number): string {
  return idOf("ses", atMs, 0);
}

const SESSION_ID = /^ses_[0-9a-f]{12}[0-9A-Za-z]{14}$/;

/** Other ids were never issued. The check also keeps ids from leading out of the directory of sessions. */
export function isSessionID(text: string): boolean {
  return SESSION_ID.test(text);
}

/** Ids of one answer: parts of one millisecond sort by their place. */
export function streamIdsFor(sessionID: string, atMs: number): StreamIds {
  return {
    sessionID,
    messageID: idOf("msg", atMs, 0),
    partIDs: [idOf("prt", atMs, 1), idOf("prt", atMs, 2), idOf("prt", atMs, 3)],
  };
}

/** The id format of the real command: lower digits of the time, then random ones. */
function idOf(prefix: "ses" | "msg" | "prt", atMs: number, place: number): string {
  const time = BigInt(atMs) * BigInt(PER_MILLISECOND) + BigInt(place);
  const digits = time.toString(16).padStart(TIME_DIGITS, "0").slice(-TIME_DIGITS);
  return `${prefix}_${digits}${randomCharacters(RANDOM_CHARACTERS)}`;
}

function randomCharacters(count: number): string {
  let text = "";
  while (text.length < count) {
    // Bytes past the last whole alphabet are left out, or the first characters would come more often.
    for (const byte of randomBytes(count)) if (byte < 248 && text.length < count) text += ALPHABET[byte % 62];
  }
  return text;
}

/** A response as the three lines that carry it, written now. Nothing that reviews here counts tokens. */
export function answerLines(sessionID: string, response: string): string {
  const atMs = Date.now();
  return answerStream(response, streamIdsFor(sessionID, atMs), atMs, { input: 0, output: 0, cost: 0 });
}
