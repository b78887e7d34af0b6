import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { answerStream } from "../../formats/reviews/wrapper-stream.ts";
import { DEFAULT_LIMITS } from "../../testing/review-builders.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import type { Limits } from "./carrier.ts";
import { httpCarrier } from "./send-http.ts";
import { takeTurn } from "./take-turn.ts";

const REQUEST = {
  protocol_version: "1.2",
  iteration: 1,
  artifact: { media_type: "text/plain", content: "é" },
} as const;
const ANSWER = JSON.stringify({
  protocol_version: "1.2",
  iteration: 1,
  status: "success",
  feedback: {
    confidence: { level: "low", justification: "" },
    positive_points: [],
    areas_for_improvement: [],
    general_summary: "",
  },
});
const IDS = { sessionID: "ses_1", messageID: "m", partIDs: ["a", "b", "c"] } as const;
const STREAM = answerStream(ANSWER, IDS, 0, { input: 3, output: 4, cost: 0 });

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

type Answering = (request: IncomingMessage, response: ServerResponse, body: string) => void;

async function serve(answer: Answering): Promise<string> {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    answer(request, response, body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function turn(url: string, session?: string, limits: Partial<Limits> = {}) {
  const streamPath = join(tempDir(), "stream.ndjson");
  const carrier = httpCarrier({ url, key: "secret-key", agent: "peer", limits: { ...DEFAULT_LIMITS, ...limits } });
  const settings = { carrier, retries: { waitsMs: [], random: () => 0 }, signal: new AbortController().signal };
  const log = { begin: async () => streamPath, end: async () => {} };
  return { ...(await takeTurn({ request: REQUEST, session }, settings, log)), streamPath };
}

describe("a provider on a server", () => {
  test("is sent the request with the key, the agent and the session, and its stream is kept", async () => {
    const seen: unknown[] = [];
    const url = await serve(({ method, url, headers }, response, body) => {
      seen.push([method, url, headers.authorization, JSON.parse(body)]);
      response.writeHead(200, { "content-type": "application/x-ndjson" }).end(STREAM);
    });
    const attempt = await turn(url, "ses_1");
    expect(seen).toEqual([["POST", "/v1/host/assay/afp/run?agent=peer&session=ses_1", "Bearer secret-key", REQUEST]]);
    expect(attempt).toMatchObject({
      outcome: "response_success",
      sessionID: "ses_1",
      warnings: [],
      exitCode: 0,
      spent: { tokens: 7 },
    });
    expect(readFileSync(attempt.streamPath, "utf8")).toBe(STREAM);
  });

  test.each<[number, object, object]>([
    [404, { error: "not_found", message: "m", details: { name: "SessionNotFound" } }, { outcome: "session_not_found" }],
    [404, { error: { name: "SessionNotFound", message: "m" } }, { outcome: "session_not_found" }],
    [500, { error: { name: "SessionNotFound", message: "m" } }, { outcome: "tool_error" }],
    [
      404,
      { error: "not_found", message: "m" },
      { outcome: "tool_error", toolError: { name: "not_found", isRetryable: false } },
    ],
    [
      409,
      { error: "busy", message: "m", details: { name: "SessionBusy" } },
      { outcome: "tool_error", toolError: { name: "SessionBusy", message: "m", isRetryable: true } },
    ],
    [
      401,
      { error: "unauthenticated", message: "who?" },
      { outcome: "tool_error", toolError: { name: "unauthenticated", message: "who?", isRetryable: false } },
    ],
    [503, { error: "unavailable", message: "m" }, { outcome: "tool_error", toolError: { isRetryable: true } }],
    [
      502,
      ["no answer of ours"],
      {
        outcome: "tool_error",
        toolError: { name: "HttpError", message: "the server answered 502", isRetryable: true },
      },
    ],
  ])("that refuses with %i %j has failed as a command would have", async (status, body, expected) => {
    const url = await serve((_, response) => response.writeHead(status).end(JSON.stringify(body)));
    expect(await turn(url, "ses_1")).toMatchObject(expected);
  });

  test("whose connection breaks has a cut stream", async () => {
    const url = await serve((_, response) => {
      response.writeHead(200);
      response.write(STREAM.slice(0, 200), () => response.destroy());
    });
    expect((await turn(url)).outcome).toBe("stream_cut");
  });

  test("that goes away before it answers may be asked again", async () => {
    const url = await serve((_, response) => response.destroy());
    expect(await turn(url)).toMatchObject({ outcome: "stream_cut", exitCode: 1 });
  });

  test("that sends us elsewhere is not followed: the key is for nobody else", async () => {
    let followed = 0;
    const elsewhere = await serve((_, response) => {
      followed++;
      response.end(STREAM);
    });
    const url = await serve((_, response) => response.writeHead(307, { location: elsewhere }).end());
    const { outcome, toolError } = await turn(url);
    expect({ outcome, toolError, followed }).toMatchObject({
      outcome: "tool_error",
      toolError: { message: "the server answered 307", isRetryable: false },
      followed: 0,
    });
  });

  test("that speaks no TLS is said to speak none", async () => {
    const url = await serve((_, response) => response.end());
    const { outcome, toolError } = await turn(url.replace("http:", "https:"));
    expect(outcome).toBe("spawn_failed");
    expect(toolError?.message).toContain("does not speak TLS");
  });

  test("that answers with a page for people gives no answer", async () => {
    const url = await serve((_, response) =>
      response.writeHead(200, { "content-type": "text/html" }).end("<html>\nSign in\n</html>\n"),
    );
    expect(await turn(url)).toMatchObject({ outcome: "no_answer", warnings: ["not_a_message"] });
  });

  test("that refuses with more than anybody reads has refused", async () => {
    const url = await serve((_, response) => {
      const go = () => response.write("x".repeat(1 << 16), go);
      response.writeHead(500);
      go();
    });
    expect(await turn(url)).toMatchObject({ outcome: "tool_error", toolError: { message: "the server answered 500" } });
  });

  test("that is not there was never asked", async () => {
    expect(await turn("http://127.0.0.1:1")).toMatchObject({
      outcome: "spawn_failed",
      toolError: { name: "unreachable" },
      exitCode: null,
    });
  });

  test.each<[string, Partial<Limits>]>([
    ["takes too long to begin", { timeMs: 50 }],
    ["says too much", { bytes: 50 }],
    ["says too many lines", { lines: 2 }],
  ])("that %s is left", async (what, limits) => {
    const url = await serve((_, response) => {
      if (what.startsWith("takes")) return;
      const rest = "\n".repeat(10);
      response.writeHead(200).write(what.includes("lines") ? rest : "x".repeat(1000));
    });
    expect((await turn(url, undefined, limits)).outcome).toBe("timeout");
  });

  test("is left at once by somebody who is interrupted", async () => {
    const stop = new AbortController();
    const url = await serve(() => stop.abort(new Error("stopped")));
    const carrier = httpCarrier({ url, key: undefined, agent: "peer", limits: DEFAULT_LIMITS });
    const watch = { take: () => {}, lines: 0, answered: false };
    const sending = { line: "{}", session: undefined, streamPath: join(tempDir(), "s"), watch, signal: stop.signal };
    await expect(carrier.send(sending)).rejects.toThrow("stopped");
  });
});
