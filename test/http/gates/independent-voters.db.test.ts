import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seedKeys } from "../../../src/engine/identity/seed-keys.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { GateClient } from "../../../src/testing/gate-host.ts";
import { expectError, type TestHost, testHost } from "../../../src/testing/host.ts";

const ACCEPT = { action: "accept" };
const FILE = {
  olga: { key: "key-file-owner-olga", tenant: "t1", principal: "olga", roles: ["owner"] },
  otto: { key: "key-file-owner-otto", tenant: "t1", principal: "otto", roles: ["owner"] },
  vera: { key: "key-file-reviewer-vera", tenant: "t1", principal: "vera", roles: ["reviewer"] },
  relay: {
    key: "key-file-relay-desk",
    tenant: "t1",
    principal: "desk",
    kind: "code",
    roles: ["reviewer", "relayer"],
    scopes: ["*", "approvals:relay"],
  },
  bridge: {
    key: "key-file-relay-bridge",
    tenant: "t1",
    principal: "bridge",
    kind: "code",
    roles: ["reviewer", "relayer"],
    scopes: ["*", "approvals:relay"],
  },
} as const;

describe.each(HTTP_STORES)("a quorum on %s", (_, open) => {
  let host: TestHost;
  let gates: GateClient;
  let drop: () => Promise<void>;
  let made = 0;

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    const trusted = { eventRetentionMs: 1000, trustedRelays: [{ tenant: "t1", principal: "bridge" }] };
    host = await testHost({ store: opened.store, worker: true, host: { gates: trusted } });
    await seedKeys(host.host, Object.values(FILE) as never);
    gates = new GateClient(host);
    await gates.register("two", "core.approvalGate", { requiredApprovals: 2 });
    await gates.register("human", "core.approvalGate", { requiredApprovals: 2, minHumans: 1 });
    const governed = { requiredRole: "reviewer", quorum: 2, override: { requiredRole: "owner", audited: true } };
    await gates.register("governed", "core.openwop.governance.approvalGate", governed);
    const role = { role: "relayer", scopes: ["approvals:relay"] };
    expect((await ask("POST", "/v1/host/assay/roles", FILE.olga.key, role)).statusCode).toBe(200);
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  const ask = (method: "GET" | "POST", url: string, key: string, json?: unknown) =>
    host.ask(method, url, { headers: { authorization: `Bearer ${key}` }, ...(json === undefined ? {} : { json }) });
  const vote = (runId: string, key: string, resumeValue: object = ACCEPT) =>
    ask("POST", `/v1/runs/${runId}/interrupts/gate`, key, { resumeValue });
  /** A principal of its own, unless it is named, with a key that `by` makes. */
  const make = async (by: string, request: object = {}) => {
    made += 1;
    const principal = `made-${made}`;
    const answer = await ask("POST", "/v1/host/assay/keys", by, { principal, roles: ["reviewer"], ...request });
    expect(answer.statusCode, answer.payload).toBe(201);
    return { principal, key: answer.json().key as string };
  };
  const confirm = (principal: string, key: string) =>
    ask("POST", `/v1/host/assay/principals/${principal}:confirm`, key, {});
  const audited = async (action: string) =>
    (await host.store.readAudit("t1", 1, 100_000, 100_000)).filter((entry) => entry.action === action);

  test.each([
    ["two", ACCEPT],
    ["governed", { decision: "granted" }],
  ])(
    "of gate %s is not met by an owner and the principal it made, until another owner confirms it",
    async (id, value) => {
      const { principal, key } = await make(FILE.olga.key);
      const runId = await gates.waiting(id);
      expect((await vote(runId, FILE.olga.key, value)).json()).toMatchObject({
        resolved: false,
        tally: { granted: 1 },
      });
      expect((await vote(runId, key, value)).json()).toMatchObject({ resolved: false, tally: { granted: 1 } });
      const { votes } = (await gates.snapshot(runId)).interrupt as { votes: { notCounted?: string }[] };
      expect(votes.map(({ notCounted }) => notCounted)).toEqual([
        expect.stringContaining(`until another owner confirms`),
        undefined,
      ]);

      expect((await confirm(principal, FILE.otto.key)).json()).toMatchObject({ principal, makers: ["olga"] });
      expect(await audited("principal.confirmed")).toContainEqual(
        expect.objectContaining({ actor: "otto", target: principal }),
      );
      // What was made of a vote is recorded with it: the next one is another's.
      const again = await gates.waiting(id);
      await vote(again, FILE.olga.key, value);
      expect((await vote(again, key, value)).json()).toMatchObject({ resolved: true });
    },
  );

  test("is not met by an override of the maker beside a principal it made", async () => {
    const { key } = await make(FILE.olga.key);
    const runId = await gates.waiting("governed");
    await vote(runId, key, { decision: "granted" });
    const override = { decision: "granted", override: true, reason: "urgent" };
    expect((await vote(runId, FILE.olga.key, override)).json()).toMatchObject({
      resolved: false,
      tally: { granted: 1 },
    });
  });

  test("counts a chain of makers as one, and a stranger beside it", async () => {
    const first = await make(FILE.olga.key, { roles: ["owner"] });
    const second = await make(first.key, { roles: ["owner"] });
    const runId = await gates.waiting("two");
    for (const key of [FILE.olga.key, first.key, second.key]) {
      expect((await vote(runId, key)).json()).toMatchObject({ resolved: false, tally: { granted: 1 } });
    }
    expect((await vote(runId, FILE.vera.key)).json()).toMatchObject({ resolved: true });
  });

  test("does not take a key that was made for a principal of the key file for that principal", async () => {
    const { key } = await make(FILE.olga.key, { principal: "vera" });
    const runId = await gates.waiting("two");
    await vote(runId, FILE.olga.key);
    expect((await vote(runId, key)).json()).toMatchObject({ resolved: false });
    expect((await vote(runId, FILE.vera.key)).json()).toMatchObject({ resolved: true });
  });

  test("of independent voters takes neither a made principal that a relay names nor the holder of a token", async () => {
    await gates.register("independent", "core.approvalGate", { requireIndependentVoters: true });
    const puppet = await make(FILE.olga.key);
    const runId = await gates.waiting("independent");
    const relayed = await vote(runId, FILE.bridge.key, { ...ACCEPT, voter: puppet.principal });
    expectError(relayed, "forbidden");
    const { interruptId } = await gates.interrupt(runId);
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const token = host.host.tokens.mint({ runId, nodeId: "gate", interruptId, expiresAt, intent: "resolve" });
    const byToken = await host.ask("POST", `/v1/interrupts/${token}`, { json: { resumeValue: ACCEPT } });
    expectError(byToken, "forbidden");
    expect((await vote(runId, FILE.olga.key)).statusCode).toBe(200);
  });

  const STRICT = { requireIndependentVoters: true, forbidSelfApproval: true };
  test.each([
    ["strict", "core.approvalGate", STRICT, ACCEPT],
    [
      "strict-governed",
      "core.openwop.governance.approvalGate",
      { ...STRICT, requiredRole: "reviewer" },
      { decision: "granted" },
    ],
  ])(
    "of independent voters (%s) has none in the makers of a principal behind the run",
    async (id, typeId, config, yes) => {
      await gates.register(id, typeId, config);
      const first = await make(FILE.olga.key, { roles: ["owner"] });
      const second = await make(first.key, { roles: ["owner"] });
      const asVera = await make(FILE.olga.key, { principal: "vera", roles: ["admin"] });
      for (const by of [first.key, second.key, asVera.key]) {
        const { runId } = (await ask("POST", "/v1/runs", by, { workflowId: id })).json();
        await gates.until(runId, ({ status }) => status === "waiting-approval");
        const refused = await vote(runId, FILE.olga.key, yes);
        expectError(refused, "forbidden");
        expect(refused.payload).toContain("another owner has to confirm");
        expect((await vote(runId, FILE.otto.key, yes)).json()).toMatchObject({ resolved: true });
      }
      const { runId } = (await ask("POST", "/v1/runs", first.key, { workflowId: id })).json();
      await gates.until(runId, ({ status }) => status === "waiting-approval");
      const keys = (await ask("GET", "/v1/host/assay/keys", FILE.olga.key)).json().keys;
      const { keyId } = keys.find((key: { principal: string }) => key.principal === first.principal);
      await ask("POST", `/v1/host/assay/keys/${keyId}:revoke`, FILE.olga.key, {});
      expectError(await vote(runId, FILE.olga.key, yes), "forbidden");
      expect((await confirm(first.principal, FILE.otto.key)).statusCode).toBe(200);
      expect((await vote(runId, FILE.olga.key, yes)).json()).toMatchObject({ resolved: true });
    },
  );

  test("of independent voters asks again where the maker of who branches has approved", async () => {
    await gates.register("strict-branch", "core.approvalGate", { ...STRICT, approvalHoldsForBranches: true });
    const puppet = await make(FILE.olga.key, { roles: ["owner"] });
    const { runId } = (await ask("POST", "/v1/runs", FILE.otto.key, { workflowId: "strict-branch" })).json();
    await gates.until(runId, ({ status }) => status === "waiting-approval");
    expect((await vote(runId, FILE.olga.key)).statusCode).toBe(200);
    const { version } = await gates.until(runId, ({ status }) => status === "completed");
    const fork = { mode: "branch", fromSeq: version - 1 };
    const branchBy = async (key: string) =>
      (await ask("POST", `/v1/runs/${runId}:fork`, key, fork)).json().runId as string;
    await gates.until(await branchBy(FILE.otto.key), ({ status }) => status === "completed");
    await gates.until(await branchBy(puppet.key), ({ status }) => status === "waiting-approval");
  });

  test("is met by principals of the key file as before", async () => {
    const runId = await gates.waiting("two");
    await vote(runId, FILE.olga.key);
    expect((await vote(runId, FILE.otto.key)).json()).toMatchObject({ resolved: true });
  });

  test("is not helped by a confirmation of the maker, of the principal, of one it made, or of no owner", async () => {
    const { principal, key } = await make(FILE.olga.key, { roles: ["owner"] });
    const puppet = await make(FILE.olga.key, { roles: ["owner"] });
    for (const by of [FILE.olga.key, key, puppet.key, FILE.vera.key]) {
      expectError(await confirm(principal, by), "forbidden");
    }
    const agent = await make(FILE.otto.key, { roles: ["owner"], kind: "agent" });
    expectError(await confirm(principal, agent.key), "forbidden");
    expectError(await confirm("no-such-principal", FILE.otto.key), "not_found");
    const list = (await ask("GET", "/v1/host/assay/principals", FILE.olga.key)).json().principals;
    expect(list).toContainEqual(expect.objectContaining({ principal, madeBy: ["olga"] }));
  });

  test("needs another confirmation for a key that the maker makes later", async () => {
    const { principal } = await make(FILE.olga.key);
    expect((await confirm(principal, FILE.otto.key)).json().confirmedKeys).toHaveLength(1);
    expect((await confirm(principal, FILE.otto.key)).json().confirmedKeys).toEqual([]);
    const later = await make(FILE.olga.key, { principal });
    const runId = await gates.waiting("two");
    await vote(runId, FILE.olga.key);
    expect((await vote(runId, later.key)).json()).toMatchObject({ resolved: false });
  });

  describe("with relayed votes", () => {
    const relayed = (voter: string) => ({ ...ACCEPT, voter });

    test("is not met by an owner: every scope is not the scope to relay", async () => {
      const runId = await gates.waiting("two");
      expectError(await vote(runId, FILE.olga.key, relayed("vera")), "forbidden");
      expect((await gates.snapshot(runId)).interrupt).toMatchObject({ votes: [] });
    });

    test("takes no name that nobody has a key of, and none that the relay made", async () => {
      const runId = await gates.waiting("two");
      expectError(await vote(runId, FILE.relay.key, relayed("made-up")), "forbidden");
      const { principal } = await make(FILE.olga.key, { principal: "short-lived" });
      const keys = (await ask("GET", "/v1/host/assay/keys", FILE.olga.key)).json().keys as {
        keyId: string;
        principal: string;
      }[];
      const { keyId } = keys.find((one) => one.principal === "short-lived") as { keyId: string };
      await ask("POST", `/v1/host/assay/keys/${keyId}:revoke`, FILE.olga.key, {});
      expect(principal).not.toBe("");
      expectError(await vote(runId, FILE.relay.key, relayed("short-lived")), "forbidden");
    });

    test("is met by known principals that a relay of the key file names", async () => {
      const runId = await gates.waiting("two");
      expect((await vote(runId, FILE.relay.key, relayed("vera"))).json()).toMatchObject({
        tally: { granted: 1, humans: 0 },
      });
      expect((await vote(runId, FILE.relay.key, relayed("olga"))).json()).toMatchObject({ resolved: true });
    });

    test("counts as one what a relay key relays that an owner made, for another or for himself", async () => {
      const scopes = ["*", "approvals:relay"];
      const other = await make(FILE.olga.key, { roles: ["reviewer", "relayer"], scopes });
      const own = await make(FILE.olga.key, { principal: "olga", roles: ["owner", "relayer"], scopes });
      for (const { key } of [other, own]) {
        const runId = await gates.waiting("two");
        expect((await vote(runId, key, relayed("vera"))).json()).toMatchObject({ tally: { granted: 1 } });
        expect((await vote(runId, key, relayed("otto"))).json()).toMatchObject({
          resolved: false,
          notCounted: expect.stringContaining("count as one"),
        });
        expect((await vote(runId, FILE.olga.key)).json()).toMatchObject({ resolved: false, tally: { granted: 1 } });
      }
      await confirm(other.principal, FILE.otto.key);
      const runId = await gates.waiting("two");
      await vote(runId, other.key, relayed("vera"));
      expect((await vote(runId, other.key, relayed("otto"))).json()).toMatchObject({ resolved: true });
    });

    test("is not given the scope by an admin, nor by a key that names less", async () => {
      const admin = await make(FILE.olga.key, { roles: ["admin"] });
      const body = { principal: "r", roles: ["reviewer"], scopes: ["approvals:relay"] };
      expectError(await ask("POST", "/v1/host/assay/keys", admin.key, body), "forbidden");
      const narrow = await make(FILE.olga.key, { roles: ["owner"], scopes: ["keys:manage"] });
      expectError(await ask("POST", "/v1/host/assay/keys", narrow.key, body), "forbidden");
      const role = { role: "relayer-2", scopes: ["approvals:relay"] };
      expectError(await ask("POST", "/v1/host/assay/roles", admin.key, role), "forbidden");
    });

    test("has no people among them where people are asked for, unless the relay is trusted for it", async () => {
      const runId = await gates.waiting("human");
      expectError(await vote(runId, FILE.relay.key, relayed("vera")), "forbidden");
      expect((await vote(runId, FILE.bridge.key, relayed("vera"))).json()).toMatchObject({
        tally: { granted: 1, humans: 1 },
      });
      expect((await vote(runId, FILE.bridge.key, relayed("desk"))).json()).toMatchObject({ resolved: true });
      const alone = await gates.waiting("human");
      await vote(alone, FILE.bridge.key, relayed("desk"));
      expect((await vote(alone, FILE.bridge.key)).json()).toMatchObject({
        resolved: false,
        tally: { granted: 2, humans: 0 },
      });
    });
  });

  test("takes the vote of a person after that of an agent with the same principal", async () => {
    const agent = await make(FILE.otto.key, { principal: "vera", kind: "agent" });
    const runId = await gates.waiting("human");
    expect((await vote(runId, agent.key)).json()).toMatchObject({ tally: { granted: 1, humans: 0 } });
    expect((await vote(runId, FILE.vera.key)).json()).toMatchObject({ tally: { granted: 1, humans: 1 } });
    expectError(await vote(runId, agent.key, { action: "reject" }), "vote_conflict");
    expect((await vote(runId, FILE.olga.key)).json()).toMatchObject({ resolved: true });
  });
});
