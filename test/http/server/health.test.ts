import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { AppError } from "../../../src/protocol/errors.ts";
import { bearer, expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { rawHttp } from "../../../src/testing/raw-http.ts";

let host: TestHost;
afterEach(() => host.close());

describe("a host", () => {
  test("that runs is alive and ready, without a key", async () => {
    host = await testHost();
    for (const url of ["/healthz", "/readyz"]) {
      const response = await host.app.inject({ method: "GET", url });
      expect(response.json()).toEqual({ status: "ok" });
      expect(response.headers["cache-control"]).toBe("no-store");
    }
  });

  test("whose database is away is alive but not ready", async () => {
    host = await testHost();
    host.store.ping = () => Promise.reject(new AppError("unavailable", { reason: "The database does not answer" }));
    const response = await host.app.inject({ method: "GET", url: "/readyz" });
    expectError(response, "unavailable");
    expect(response.headers["retry-after"]).toBe("1");
    expect(await host.app.inject({ method: "GET", url: "/healthz" })).toMatchObject({ statusCode: 200 });
  });

  test("whose database hangs is not ready either", async () => {
    host = await testHost();
    host.store.ping = () => new Promise(() => {});
    expectError(await host.app.inject({ method: "GET", url: "/readyz" }), "unavailable");
  });
});

describe("a host that shuts down", () => {
  test("finishes what it has begun, says that it is not ready, and takes no new connections", async () => {
    host = await testHost();
    const url = await host.listen();
    let goOn = () => {};
    let arrived = () => {};
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const inside = new Promise<void>((resolve) => (arrived = resolve));
    const { listRuns } = host.store;
    host.store.listRuns = async (...args) => {
      arrived();
      await held;
      return listRuns(...args);
    };
    let closed: Promise<unknown> = Promise.resolve();
    const { authorization } = bearer("owner");
    const answer = await rawHttp(url, async (socket) => {
      socket.write(`GET /v1/runs HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`);
      await inside;
      closed = host.app.close();
      await sleep(100);
      await expect(fetch(`${url}/healthz`)).rejects.toThrow();
      socket.write("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
      await sleep(20);
      goOn();
    });
    await closed;
    expect(answer.status).toBe(200);
    expect(answer.body).toMatch(/HTTP\/1.1 503 .*"error":"unavailable"/s);
  });

  test("does not wait for connections on which nothing was ever asked", async () => {
    host = await testHost({ settings: { shutdownGraceMs: 60_000 } });
    const url = await host.listen();
    const unused = rawHttp(url, () => {});
    await fetch(`${url}/healthz`);
    await sleep(20);
    await host.app.close();
    expect(await unused).toMatchObject({ status: 0 });
  });

  test("ends event streams so that they can be resumed", async () => {
    host = await testHost();
    const url = await host.listen();
    const runId = await host.newRun();
    const response = await fetch(`${url}/v1/runs/${runId}/events`, { headers: bearer("owner") });
    expect(response.headers.get("x-request-id")).toMatch(/^req-/);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    const text = response.text();
    await sleep(20);
    await host.app.close();
    expect(await text).toContain("event: run.started");
    const line = host.logged.find((logged) => logged["route"] === "/v1/runs/{runId}/events");
    expect(line).toMatchObject({ status: 200, path: `/v1/runs/${runId}/events` });
  });

  test("does not wait longer than it was told", async () => {
    host = await testHost({ settings: { shutdownGraceMs: 100 } });
    const url = await host.listen();
    host.store.listRuns = () => new Promise(() => {});
    const hanging = rawHttp(url, (socket) => {
      socket.write(`GET /v1/runs HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer("owner").authorization}\r\n\r\n`);
    });
    await sleep(50);
    await host.app.close();
    expect(await hanging).toMatchObject({ status: 0 });
  });
});

describe("the number of connections", () => {
  test("is limited", async () => {
    host = await testHost({ settings: { maxConnections: 2 } });
    const url = await host.listen();
    const idle = [1, 2].map(() => rawHttp(url, () => {}));
    await sleep(50);
    expect(await rawHttp(url, (socket) => void socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"))).toMatchObject(
      {
        status: 0,
      },
    );
    await host.app.close();
    await Promise.all(idle);
  });
});
