import { expect } from "vitest";
import type { Decision } from "../formats/reviews/request.ts";
import type { TestHost, Who } from "./host.ts";

export interface ReviewRequestParts {
  readonly iteration?: number;
  readonly decisions?: readonly Decision[];
  readonly artifact?: Readonly<Record<string, unknown>>;
}

/** A request for a review of a text. */
export function reviewRequest(content: unknown, { iteration = 1, decisions, artifact }: ReviewRequestParts = {}) {
  return {
    protocol_version: "1.2",
    iteration,
    artifact: { media_type: "text/plain", content, ...artifact },
    ...(decisions === undefined ? {} : { applied_feedback: { items: decisions } }),
  };
}

export const AFP_RUN = "/v1/host/assay/afp/run";
export const REVIEWS = "/v1/host/assay/reviews";

export interface Turned {
  readonly sessionID: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect.
  readonly response: any;
}

/** The answer in the three lines, which are checked on the way. */
export function turned(answer: {
  statusCode: number;
  payload: string;
  headers: Readonly<Record<string, unknown>>;
}): Turned {
  expect(answer.statusCode, answer.payload).toBe(200);
  expect(answer.payload.endsWith("\n")).toBe(true);
  const lines = answer.payload
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.map(({ type }) => type)).toEqual(["step_start", "text", "step_finish"]);
  const sessionID = String(answer.headers["x-afp-session"]);
  for (const line of lines) expect([line.sessionID, line.part.sessionID]).toEqual([sessionID, sessionID]);
  return { sessionID, response: JSON.parse(lines[1].part.text) };
}

/** One agent that asks a host for reviews. */
export class ReviewClient {
  readonly host: TestHost;
  readonly #as: Who;

  constructor(host: TestHost, as: Who = "owner") {
    this.host = host;
    this.#as = as;
  }

  async turn(session: string | undefined, content: unknown, parts: ReviewRequestParts = {}): Promise<Turned> {
    return turned(await this.ask(session, reviewRequest(content, parts)));
  }

  ask(session: string | undefined, json: unknown) {
    const query = session === undefined ? "" : `?session=${encodeURIComponent(session)}`;
    return this.host.ask("POST", `${AFP_RUN}${query}`, { as: this.#as, json });
  }

  async get(path: string) {
    return (await this.host.ask("GET", `${REVIEWS}${path}`, { as: this.#as })).json();
  }
}

export function decided(id: string, status: Decision["status"], more: Partial<Decision> = {}): Decision {
  return { id, status, ...more };
}

/** A session of two turns in which `remark-a` was accepted. */
export async function decidedReview(host: TestHost): Promise<string> {
  const client = new ReviewClient(host);
  const { sessionID } = await client.turn(undefined, "fix:a");
  await client.turn(sessionID, "done", { iteration: 2, decisions: [decided("remark-a", "accepted")] });
  return sessionID;
}
