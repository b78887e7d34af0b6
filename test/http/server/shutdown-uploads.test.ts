import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { bearer, type TestHost, testHost } from "../../../src/testing/host.ts";
import { rawHttp } from "../../../src/testing/raw-http.ts";

let host: TestHost;
afterEach(() => host.close());

test("a host that shuts down refuses a request that is still arriving, and does not wait for all of it", async () => {
  host = await testHost({ settings: { shutdownGraceMs: 600_000, requestTimeoutMs: 600_000 } });
  const url = await host.listen();
  let drip: NodeJS.Timeout | undefined;
  const answer = rawHttp(url, (socket) => {
    const head = ["POST /v1/runs HTTP/1.1", "Host: x", `Authorization: ${bearer("owner").authorization}`];
    socket.write([...head, "Content-Type: application/json", "Content-Length: 100000", "", "{"].join("\r\n"));
    drip = setInterval(() => socket.write(" "), 20);
    socket.on("error", () => {});
  });
  await sleep(100);
  await host.app.close();
  clearInterval(drip);
  expect(await answer).toMatchObject({ status: 503 });
});
