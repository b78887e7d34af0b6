import { createServer } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { TEST_CERTIFICATE } from "../../testing/test-certificate.ts";
import { WebhookReceiver } from "../../testing/webhook-receiver.ts";
import { callOut, type OutboundCall } from "./call-out.ts";
import type { Guard } from "./guard.ts";

const LOOPBACK: Guard = { allowPrivate: true, resolve: async () => [{ address: "127.0.0.1", family: 4 }] };
const TRUSTING: Guard = { ...LOOPBACK, ca: TEST_CERTIFICATE };

let receivers: WebhookReceiver[] = [];
afterEach(async () => {
  await Promise.all(receivers.map((receiver) => receiver.close()));
  receivers = [];
});

async function receiving(scheme: "http" | "https" = "http"): Promise<WebhookReceiver> {
  const receiver = await WebhookReceiver.start(scheme);
  receivers.push(receiver);
  return receiver;
}

function call(url: string, more: Partial<OutboundCall> = {}): OutboundCall {
  return { url, headers: { "x-mine": "1" }, body: '{"a":"ä"}', timeoutMs: 10_000, maxAnswerBytes: 65_536, ...more };
}

describe("a call", () => {
  test("is posted as it is, and its answer comes back", async () => {
    const receiver = await receiving();
    receiver.behave((response) => response.writeHead(202).end("thanks"));
    const answer = await callOut(LOOPBACK, call(receiver.url("/in?x=1")));
    expect(answer).toEqual({ status: 202, body: Buffer.from("thanks"), cut: false });
    expect(receiver.received).toMatchObject([
      { path: "/in?x=1", body: '{"a":"ä"}', headers: { "x-mine": "1", "content-length": "10" } },
    ]);
  });

  test("goes to the address that was checked, under the name of the URL", async () => {
    const receiver = await receiving("https");
    const answer = await callOut(TRUSTING, call(receiver.url("/", "hooks.example.com")));
    expect(answer).toMatchObject({ status: 200 });
    expect(receiver.received).toMatchObject([
      { serverName: "hooks.example.com", headers: { host: `hooks.example.com:${receiver.port}` } },
    ]);
  });

  test("fails when the certificate is for another name, or from nobody known", async () => {
    const receiver = await receiving("https");
    const wrongName = await callOut(TRUSTING, call(receiver.url("/", "other.example.com")));
    expect(wrongName).toEqual({ failure: expect.stringContaining("TLS failed") });
    const unknown = await callOut(LOOPBACK, call(receiver.url("/", "hooks.example.com")));
    expect(unknown).toEqual({ failure: expect.stringContaining("TLS failed") });
    expect(receiver.received).toEqual([]);
  });

  test.each([301, 302, 303, 307, 308])("does not follow a redirect: %i is its answer", async (status) => {
    const receiver = await receiving();
    const elsewhere = await receiving();
    receiver.behave((response) => response.writeHead(status, { location: elsewhere.url() }).end());
    expect(await callOut(LOOPBACK, call(receiver.url()))).toMatchObject({ status });
    expect(elsewhere.connections).toBe(0);
  });

  test("keeps no more of the answer than it may, and lets go of the rest", async () => {
    const receiver = await receiving();
    receiver.behave((response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
      };
      response.on("drain", more);
      more();
    });
    const answer = await callOut(LOOPBACK, call(receiver.url(), { maxAnswerBytes: 1000 }));
    expect(answer).toMatchObject({ status: 200, body: { length: 1000 }, cut: true });
  });

  test("ends when its time is over, whether the receiver is silent or takes no connection further", async () => {
    const receiver = await receiving();
    receiver.behave(() => {});
    const silent = await callOut(LOOPBACK, call(receiver.url(), { timeoutMs: 50 }));
    expect(silent).toEqual({ failure: "no answer within 50 ms" });
    const stuck: Guard = { allowPrivate: true, resolve: () => new Promise(() => {}) };
    expect(await callOut(stuck, call("http://a.example.com/", { timeoutMs: 50 }))).toEqual(silent);
  });

  test("can be cut short before and while it is made", async () => {
    const receiver = await receiving();
    const cut = new AbortController();
    receiver.behave(() => cut.abort());
    const answer = { failure: "the call was aborted" };
    expect(await callOut(LOOPBACK, call(receiver.url(), { signal: cut.signal }))).toEqual(answer);
    expect(await callOut(LOOPBACK, call(receiver.url(), { signal: cut.signal }))).toEqual(answer);
    expect(receiver.received).toHaveLength(1);
  });

  test("that was cut short before it is made, to an address that is refused, leaves no error without a handler", async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", note);
    try {
      const guard = { ...LOOPBACK, allowPrivate: false };
      const signal = AbortSignal.abort();
      const answer = await callOut(guard, call("http://10.0.0.1/", { signal }));
      expect(answer).toEqual({ failure: "the call was aborted" });
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", note);
    }
  });

  test("has its answer with the status, even when the body never ends", async () => {
    const receiver = await receiving();
    receiver.behave((response) => void response.writeHead(200).write("slow"));
    const answer = await callOut(LOOPBACK, call(receiver.url(), { timeoutMs: 200 }));
    expect(answer).toEqual({ status: 200, body: Buffer.from("slow"), cut: true });
  });

  test("fails in words when nobody answers", async () => {
    const receiver = await receiving();
    receiver.behave((response) => response.destroy());
    expect(await callOut(LOOPBACK, call(receiver.url()))).toEqual({
      failure: "the connection was closed without an answer",
    });
    const switching = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n";
    const server = createServer((socket) => socket.resume().end(switching));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    expect(await callOut(LOOPBACK, call(`http://127.0.0.1:${port}/`))).toEqual({ failure: expect.any(String) });
    await new Promise((resolve) => server.close(resolve));
    expect(await callOut(LOOPBACK, call(`http://127.0.0.1:${port}/`))).toEqual({
      failure: "the connection was refused",
    });
    const nowhere: Guard = { allowPrivate: true, resolve: async () => [] };
    expect(await callOut(nowhere, call("http://a.example.com/"))).toEqual({
      failure: "the host name does not resolve",
    });
  });
});

describe("a name that resolves differently by the time of the call", () => {
  test.each([[["127.0.0.1"]], [["8.8.8.8", "127.0.0.1"]]])("to %j is not connected to", async (addresses) => {
    const receiver = await receiving("https");
    const guard: Guard = {
      allowPrivate: false,
      ca: TEST_CERTIFICATE,
      resolve: async () => addresses.map((address) => ({ address, family: 4 })),
    };
    const answer = await callOut(guard, call(receiver.url("/", "hooks.example.com")));
    expect(answer).toEqual({ failure: expect.stringContaining("not public") });
    expect(receiver.connections).toBe(0);
  });

  test("after it was checked changes nothing: it is resolved once", async () => {
    const receiver = await receiving("https");
    let asked = 0;
    const guard: Guard = {
      ...TRUSTING,
      resolve: async () => {
        asked += 1;
        return [{ address: asked === 1 ? "127.0.0.1" : "127.0.0.2", family: 4 }];
      },
    };
    expect(await callOut(guard, call(receiver.url("/", "hooks.example.com")))).toMatchObject({ status: 200 });
    expect(asked).toBe(1);
  });
});
