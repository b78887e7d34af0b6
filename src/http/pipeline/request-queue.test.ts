import type { Server, ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { boundedServer } from "./request-queue.ts";

const GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

let server: Server;
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.close();
});

/** Counts the requests that were begun. */
async function serve(begin: (response: ServerResponse, url: string) => void = () => {}) {
  const seen = { begun: 0 };
  server = boundedServer({}, (request, response) => {
    seen.begun += 1;
    request.resume();
    begin(response, request.url ?? "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return seen;
}

async function connected(): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  sockets.push(socket);
  await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
  return socket;
}

async function send(text: string): Promise<{ text: string; closed: boolean }> {
  const socket = await connected();
  const got = { text: "", closed: false };
  socket.on("error", () => {});
  socket.on("close", () => {
    got.closed = true;
  });
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    got.text += chunk;
  });
  socket.write(text);
  return got;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
}

describe("requests that are pipelined on a connection", () => {
  test("are begun one after the other, and answered in order, with their bodies", async () => {
    const order: string[] = [];
    let running = 0;
    await serve((response, url) => {
      order.push(url);
      expect(++running).toBe(1);
      setTimeout(() => {
        running -= 1;
        response.end(`(${url})`);
      }, 2);
    });
    const post = (n: number) =>
      `POST /${n} HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n${"a".repeat(200_000)}`;
    const got = await send([0, 1, 2, 3].map(post).join("") + GET);
    await until(() => got.text.endsWith("(/)\r\n0\r\n\r\n") || got.text.endsWith("(/)"));
    expect(order).toEqual(["/0", "/1", "/2", "/3", "/"]);
    expect(got.text.match(/\(\/\d?\)/g)).toEqual(["(/0)", "(/1)", "(/2)", "(/3)", "(/)"]);
  });

  test("behind an answer that ends the connection are not begun", async () => {
    const seen = await serve((response) => response.writeHead(400, { connection: "close" }).end());
    const got = await send(GET.repeat(3));
    await until(() => got.closed);
    expect(seen.begun).toBe(1);
  });

  test("beyond a number of them close it, and Node does not parse on", async () => {
    const seen = await serve();
    let parsed = 0;
    server.on("request", () => {
      parsed += 1;
    });
    const got = await send(GET.repeat(2000));
    await until(() => got.closed);
    expect(seen.begun).toBe(1);
    expect(parsed).toBeLessThan(40);
  });

  test("an upgrade that a client asks for is ignored", async () => {
    await serve((response) => response.end("(plain)"));
    const got = await send("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    await until(() => got.text.includes("(plain)"));
  });

  test("are not begun after their client has gone", async () => {
    const responses: ServerResponse[] = [];
    const seen = await serve((response) => responses.push(response));
    await send(GET.repeat(3));
    await until(() => seen.begun === 1);
    sockets[0]?.destroy();
    await until(() => responses[0]?.destroyed === true);
    for (let i = 0; i < 5; i++) await nextTurn();
    expect(seen.begun).toBe(1);
  });
});

test("requests of many connections are begun a few in each turn of the event loop", async () => {
  let turn = 0;
  const turns: number[] = [];
  const seen = await serve((response) => {
    turns.push(turn);
    response.end();
  });
  let counting = true;
  void (async () => {
    for (; counting; turn++) await nextTurn();
  })();
  let accepted = 0;
  server.on("connection", () => {
    accepted += 1;
  });
  const clients = await Promise.all(Array.from({ length: 200 }, connected));
  await until(() => accepted === 200);
  for (const client of clients) client.resume().write(GET.repeat(10));
  await until(() => seen.begun === 2000);
  counting = false;
  const perTurn = new Map<number, number>();
  for (const one of turns) perTurn.set(one, (perTurn.get(one) ?? 0) + 1);
  expect(Math.max(...perTurn.values())).toBeLessThanOrEqual(64);
});
