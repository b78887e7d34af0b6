import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { GateClient } from "../../../src/testing/gate-host.ts";
import { bearer, type TestHost, testHost } from "../../../src/testing/host.ts";
import { SseClient } from "../../../src/testing/sse-client.ts";

describe.each(HTTP_STORES)("the live notice of a judgment on %s", (_, open) => {
  let host: TestHost;
  let gates: GateClient;
  let url: string;
  let drop: () => Promise<void>;
  const clients: SseClient[] = [];

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    host = await testHost({ store: opened.store, worker: true });
    gates = new GateClient(host);
    await gates.register("plain", "core.approvalGate", { title: "Ship it?" });
    url = await host.listen();
  });
  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await host.close();
    await drop();
  });

  const follow = async (runId: string, query: string, headers: Record<string, string> = {}) => {
    const client = await SseClient.open(`${url}/v1/runs/${runId}/events?${query}`, { ...bearer("owner"), ...headers });
    clients.push(client);
    return client;
  };
  const annotate = async (runId: string, rating: number) =>
    (await host.ask("POST", `/v1/runs/${runId}/annotations`, { json: { signal: { kind: "rating", rating } } })).json();
  const accept = async (runId: string) => {
    const answer = await gates.answer(runId, { action: "accept" });
    expect(answer.json()).toMatchObject({ resolved: true });
  };
  const notices = (client: SseClient) => client.frames.filter(({ event }) => event === "run.annotated");

  test.each(["streamMode=updates", "streamMode=debug", "streamMode=updates,messages", ""])(
    "reaches a stream with %j at once, as the annotation itself and without an id",
    async (query) => {
      const runId = await gates.waiting("plain");
      const client = await follow(runId, query);
      const annotation = await annotate(runId, 4);
      await client.until(() => notices(client).length === 1);
      expect(notices(client)).toEqual([{ event: "run.annotated", data: JSON.stringify(annotation) }]);
    },
  );

  test("does not reach streams of values or messages, nor those of other runs", async () => {
    const [runId, otherId] = [await gates.waiting("plain"), await gates.waiting("plain")];
    const told = await follow(runId, "streamMode=updates");
    const untold = [
      await follow(runId, "streamMode=values"),
      await follow(runId, "streamMode=messages"),
      await follow(otherId, "streamMode=updates"),
    ];
    await annotate(runId, 3);
    await told.until(() => notices(told).length === 1);
    await accept(runId);
    await accept(otherId);
    await Promise.all([told, ...untold].map(({ closed }) => closed));
    expect(untold.flatMap(notices)).toEqual([]);
  });

  test("is never repeated: not to who comes later, nor to who resumes", async () => {
    const runId = await gates.waiting("plain");
    const first = await follow(runId, "streamMode=updates");
    await annotate(runId, 2);
    await first.until(() => notices(first).length === 1);
    first.disconnect();
    const resumed = await follow(runId, "streamMode=updates", { "last-event-id": "0" });
    const late = await follow(runId, "streamMode=debug");
    await accept(runId);
    await Promise.all([resumed.closed, late.closed]);
    expect([...notices(resumed), ...notices(late)]).toEqual([]);
  });

  test("is a frame of its own where events are batched, after those that were held back", async () => {
    const runId = await gates.waiting("plain");
    const client = await follow(runId, "streamMode=updates&bufferMs=5000");
    const annotation = await annotate(runId, 1);
    await client.until(() => notices(client).length === 1);
    expect(notices(client)[0]?.data).toBe(JSON.stringify(annotation));
    const batches = client.frames.filter(({ event }) => event === "batch");
    expect(batches.map(({ data }) => data).join()).not.toContain("annotationId");
    expect(client.frames.at(-1)?.event).toBe("run.annotated");
    expect(batches.length).toBeGreaterThan(0);
  });
});
