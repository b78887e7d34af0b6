import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../../testing/engine.ts";
import { bearer, expectError, type TestHost, testHost } from "../../testing/host.ts";
import { gateWorkflow, InboxFollower, Member, openGate } from "../../testing/inbox-client.ts";
import { SseClient } from "../../testing/sse-client.ts";

let host: TestHost;
let url: string;
let ana: Member;
let ben: Member;
beforeEach(async () => {
  host = await testHost({ worker: true, streams: { inboxRereadMs: 60_000 } });
  url = await host.listen();
  ana = await Member.join(host, "ana");
  ben = await Member.join(host, "ben");
});
afterEach(() => host.close());

/** What comes after everything before it was told. */
async function marker(follower: InboxFollower): Promise<void> {
  const { interruptId } = await openGate(host, await gateWorkflow(host));
  await follower.until(interruptId, "opened");
}

async function setGroups(groups: readonly string[], principal = "ana"): Promise<void> {
  const answer = await host.ask("POST", `/v1/host/assay/principals/${principal}`, { json: { groups } });
  expect(answer.statusCode, answer.payload).toBe(200);
}

describe("a live inbox", () => {
  test("begins with what is open, says when that is all, and goes on with what happens", async () => {
    const workflowId = await gateWorkflow(host, { config: { title: "Ship it?", requiredApprovals: 2 } });
    const before = await openGate(host, workflowId);
    const live = await (await ana.follow(url)).untilTold();
    expect(live.frames.map(({ event }) => event)).toEqual(["inbox.opened", "inbox.snapshot"]);
    expect(live.frames[0]?.data).toMatchObject({ ...before, workflowId, title: "Ship it?", votes: [], mine: null });
    expect(live.frames[1]?.data).toEqual({ open: 1 });

    const after = await openGate(host, workflowId);
    await live.until(after.interruptId, "opened");
    await ana.answer(before.interruptId, { action: "accept" });
    await live.until(before.interruptId, "updated");
    expect(live.last(before.interruptId)).toMatchObject({ granted: 1, mine: "accept" });
    await ben.answer(before.interruptId, { action: "accept" });
    await live.until(before.interruptId, "closed");
    expect(live.last(before.interruptId)).toEqual({ ...before, status: "resolved", outcome: "granted" });
    await host.ask("POST", `/v1/runs/${after.runId}/cancel`, { json: {} });
    await live.until(after.interruptId, "closed");
    expect(live.last(after.interruptId)).toEqual({ ...after, status: "cancelled" });
    await marker(live);
    expect(live.about(before.interruptId)).toEqual(["opened", "updated", "closed"]);
    expect(live.about(after.interruptId)).toEqual(["opened", "closed"]);
  });

  test("is an event stream that lives in silence", async () => {
    const quiet = await testHost({ streams: { keepAliveMs: 20 } });
    const client = await SseClient.open(`${await quiet.listen()}/v1/host/assay/inbox/events`, bearer("owner"));
    expect(client.response.headers).toMatchObject({ "content-type": "text/event-stream", "cache-control": "no-cache" });
    expect(client.response.headers["x-request-id"]).toBeDefined();
    await client.until(() => client.comments.filter((comment) => comment === "keepalive").length > 1);
    await quiet.close();
    expect(await client.closed).toBe("end");
  });

  test("tells when time ran out", async () => {
    const live = await (await ana.follow(url)).untilTold();
    const gate = await openGate(host, await gateWorkflow(host, { config: { timeoutMs: 150 } }));
    await live.until(gate.interruptId, "closed");
    expect(live.last(gate.interruptId)).toEqual({ ...gate, status: "expired", outcome: "rejected" });
    expect(live.about(gate.interruptId)).toEqual(["opened", "closed"]);
  });

  test("tells nobody of what is for others: other approvers, another workspace, another tenant", async () => {
    const forBen = await gateWorkflow(host, { config: { approversList: ["ben"] } });
    const forAll = await gateWorkflow(host);
    const followed = (headers: Record<string, string>) =>
      SseClient.open(`${url}/v1/host/assay/inbox/events`, headers).then((client) =>
        new InboxFollower(client).untilTold(),
      );
    const anas = await followed(ana.headers);
    const bens = await followed(ben.headers);
    const [east, west, other] = await Promise.all([bearer("east"), bearer("west"), bearer("other")].map(followed));
    const bensOwn = await openGate(host, forBen);
    const inEast = await openGate(host, forAll, bearer("east"));
    const nowhere = await openGate(host, forAll);
    for (const { interruptId } of [bensOwn, inEast, nowhere]) {
      expect(await ben.answer(interruptId, { action: "accept" })).toMatchObject({ resolved: true });
    }
    await anas.until(nowhere.interruptId, "closed");
    await bens.until(nowhere.interruptId, "closed");
    await east?.until(inEast.interruptId, "closed");
    const told = (follower: InboxFollower | undefined) =>
      [bensOwn, inEast, nowhere].map(({ interruptId }) => follower?.about(interruptId).join());
    expect(told(bens)).toEqual(["opened,closed", "opened,closed", "opened,closed"]);
    expect(told(anas)).toEqual(["", "opened,closed", "opened,closed"]);
    expect(told(east)).toEqual(["", "opened,closed", ""]);
    expect([told(west), told(other)]).toEqual([
      ["", "", ""],
      ["", "", ""],
    ]);
  });

  test("follows what its reader becomes: a gate comes with a group and goes with it", async () => {
    const gate = await openGate(host, await gateWorkflow(host, { config: { approverGroupRefs: ["legal"] } }));
    const live = await (await ana.follow(url)).untilTold();
    expect(live.about(gate.interruptId)).toEqual([]);
    await setGroups(["legal"]);
    await live.until(gate.interruptId, "opened");
    await setGroups([]);
    await live.until(gate.interruptId, "closed");
    expect(live.last(gate.interruptId)).toEqual({ ...gate, status: "open" });
  });

  test("can be narrowed to a workflow, a kind or a run", async () => {
    const [one, two] = [await gateWorkflow(host), await gateWorkflow(host)];
    const asks = { typeId: "core.clarificationGate", config: { questions: [{ id: "q", question: "Which?" }] } };
    const [first, second] = [await openGate(host, one), await openGate(host, two)];
    const question = await openGate(host, await gateWorkflow(host, asks));
    const told = async (query: string) => {
      const live = await (await ana.follow(url, query)).untilTold();
      return live.frames.flatMap(({ data }) => data["interruptId"] ?? []);
    };
    expect(await told(`?workflowId=${one}`)).toEqual([first.interruptId]);
    expect(await told(`?runId=${second.runId}`)).toEqual([second.interruptId]);
    expect(await told("?kind=clarification")).toEqual([question.interruptId]);
    expectError(await ana.ask("GET", "/v1/host/assay/inbox/events?kind=other"), "validation_error");
  });

  test("shows no sensitive value of a run", async () => {
    const variables = [{ name: "secret", type: "string", sensitive: true }];
    const inputs = { title: { type: "variable", variableName: "secret" } };
    const workflowId = await gateWorkflow(host, {
      typeId: "core.interrupt",
      config: { kind: "approval" },
      inputs,
      variables,
    });
    const live = await (await ana.follow(url)).untilTold();
    const gate = await openGate(host, workflowId, {}, { inputs: { secret: "hunter2hunter2" } });
    await live.until(gate.interruptId, "opened");
    expect(live.last(gate.interruptId)).toMatchObject({ title: "[REDACTED]" });
  });

  test("ends with its key", async () => {
    const { key, info } = (
      await host.ask("POST", "/v1/host/assay/keys", { json: { principal: "tmp", roles: ["reviewer"] } })
    ).json();
    const client = await SseClient.open(`${url}/v1/host/assay/inbox/events`, { authorization: `Bearer ${key}` });
    await new InboxFollower(client).untilTold();
    await host.ask("POST", `/v1/host/assay/keys/${info.keyId}:revoke`);
    expect(await client.closed).toBe("cut");
  });

  test("answers HEAD without opening anything", async () => {
    const answer = await host.ask("HEAD", "/v1/host/assay/inbox/events");
    expect(answer).toMatchObject({ statusCode: 200, payload: "" });
  });
});

describe("streams of all kinds", () => {
  test("share the room there is", async () => {
    const small = await testHost({ streams: { streamsMax: 1 } });
    const address = await small.listen();
    const live = await SseClient.open(`${address}/v1/host/assay/inbox/events`, bearer("owner"));
    const runId = await small.newRun();
    expectError(await small.ask("GET", `/v1/runs/${runId}/events`), "rate_limited");
    expectError(await small.ask("GET", "/v1/host/assay/inbox/events"), "rate_limited");
    live.disconnect();
    let run: SseClient | undefined;
    while (run?.response.statusCode !== 200)
      run = await SseClient.open(`${address}/v1/runs/${runId}/events`, bearer("owner"));
    expectError(await small.ask("GET", "/v1/host/assay/inbox/events"), "rate_limited");
    await small.close();
  });
});

describe("while gates open and close all the time", () => {
  test("every reader is told of each in order: opened once, closed once, whenever it came", async () => {
    const workflowId = await gateWorkflow(host, { config: { requiredApprovals: 2 } });
    const followers: InboxFollower[] = [];
    const gates: string[] = [];
    const life = async () => {
      for (let i = 0; i < 12; i++) {
        const { interruptId, runId } = await openGate(host, workflowId);
        gates.push(interruptId);
        await ana.answer(interruptId, { action: "accept" });
        if (i % 3 === 0) await host.ask("POST", `/v1/runs/${runId}/cancel`, { json: {} });
        else await ben.answer(interruptId, { action: "accept" });
        await until(host.store, runId, ({ status }) => status === "completed" || status === "cancelled");
      }
    };
    const join = async () => {
      for (let i = 0; i < 6; i++) followers.push(await (await ana.follow(url)).untilTold());
    };
    await Promise.all([life(), life(), life(), join(), join()]);
    for (const follower of followers) {
      await marker(follower);
      for (const id of gates) {
        const told = follower.about(id).filter((event) => event !== "updated");
        expect([[], ["opened", "closed"]]).toContainEqual(told);
      }
    }
    expect(host.logged.filter(({ level }) => level === "error")).toEqual([]);
  });
});
