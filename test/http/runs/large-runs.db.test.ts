import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withLargeCommitsInTurn } from "../../../src/engine/families/large-commits.ts";
import { RunRoom } from "../../../src/engine/worker/run-room.ts";
import type { Store } from "../../../src/store/port/store.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { GateClient } from "../../../src/testing/gate-host.ts";
import { bearer, expectError, type TestHost, testHost } from "../../../src/testing/host.ts";

const MB = 2 ** 20;
const IN_HAND = 64 * MB;

describe.each(HTTP_STORES)("large runs over HTTP on %s", (_, open) => {
  const room = new RunRoom({
    maxRunBytes: 4 * MB,
    maxBytesInHand: IN_HAND,
    readWaitMs: 20,
  });
  let host: TestHost;
  let drop: () => Promise<void>;
  let url: string;
  let unguarded: Store;
  let large: string;
  let token: string;
  let gates: GateClient;

  const waiting = async (bytes: number) => {
    const inputs = { text: "x".repeat(bytes) };
    const { runId } = (await host.ask("POST", "/v1/runs", { json: { workflowId: "gate", inputs } })).json();
    for (;;) {
      // The store itself: a host does not read a run that is too large to load.
      const run = await unguarded.readRun({ tenant: "t1" }, runId);
      if (run?.status === "waiting-approval") return runId as string;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const whileFull = async <T>(work: () => Promise<T>): Promise<T> => {
    const release = await room.bytes.take(IN_HAND);
    try {
      return await work();
    } finally {
      release();
    }
  };

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    unguarded = opened.store;
    const store = withLargeCommitsInTurn(opened.store, room);
    const settings = { maxRequestBodyBytes: 8 * MB };
    host = await testHost({ store, host: { room, store }, settings, worker: true });
    gates = new GateClient(host);
    await gates.register("gate", "core.approvalGate", { title: "Ship it?" });
    large = await waiting(1.5 * MB);
    token = await gates.token(large);
    url = await host.listen();
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  test.each([
    ["a snapshot", () => host.ask("GET", `/v1/runs/${large}`)],
    ["a fork", () => host.ask("POST", `/v1/runs/${large}:fork`, { json: { mode: "replay" } })],
    ["a list", () => host.ask("GET", "/v1/runs")],
    ["the log", () => host.ask("GET", `/v1/runs/${large}/events`, { headers: { accept: "application/json" } })],
    ["a poll", () => host.ask("GET", `/v1/runs/${large}/events/poll?timeout=1`)],
    ["a token", () => gates.byToken(token)],
    ["a token with an answer", () => gates.byToken(token, { action: "accept" })],
  ])("%s is refused with 503 while others hold all room, and answered afterwards", async (name, ask) => {
    expectError(await whileFull(ask), "unavailable");
    expect(room.bytes.used).toBe(0);
    if (name === "a token with an answer") return;
    expect((await ask()).statusCode).toBeLessThan(300);
  });

  test("a request that names one holds no room while its body is on its way", async () => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const head = [
      `POST /v1/runs/${large}/cancel HTTP/1.1`,
      "host: h",
      `authorization: ${bearer("owner").authorization}`,
    ];
    const type = ["content-type: application/json", "content-length: 2", "expect: 100-continue", "connection: close"];
    socket.write(`${[...head, ...type].join("\r\n")}\r\n\r\n`);
    const answered = new Promise<string>((resolve) => {
      let text = "";
      socket.on("data", (chunk) => {
        text += String(chunk);
      });
      socket.once("close", () => resolve(text));
    });
    await once(socket, "data");
    for (let i = 0; i < 20; i++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(room.bytes.used).toBe(0);
    }
    socket.write("[]");
    // The body is read and refused, so the run goes on.
    expect(await answered).toContain("validation_error");
    expect(room.bytes.used).toBe(0);
  });

  test("streams of values are refused with 503 when open ones keep the room for them", async () => {
    const path = `${url}/v1/runs/${large}/events?streamMode=values`;
    const streams = Array.from({ length: 6 }, () => new AbortController());
    const answers = await Promise.all(streams.map(({ signal }) => fetch(path, { headers: bearer("owner"), signal })));
    const statuses = answers.map(({ status }) => status).sort();
    expect([statuses[0], statuses.at(-1)]).toEqual([200, 503]);
    for (const one of streams) one.abort();
    await expect
      .poll(async () => {
        const again = new AbortController();
        const { status } = await fetch(path, { headers: bearer("owner"), signal: again.signal });
        again.abort();
        return status;
      })
      .toBe(200);
  });

  test("a fork of a run whose log is longer than this host takes in hand is refused with 413", async () => {
    const small = new RunRoom({ maxRunBytes: 0.5 * MB, maxBytesInHand: IN_HAND });
    const other = await testHost({ store: host.store, host: { room: small, store: host.store } });
    const refused = await other.ask("POST", `/v1/runs/${large}:fork`, { json: { mode: "replay" } });
    expect(expectError(refused, "run_too_large")).toMatchObject({ runId: large, limitBytes: MB });
    await other.app.close();
  });
});
