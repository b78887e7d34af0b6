import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { judgeTask } from "../../../src/evals/override/judge-task.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { conditionsIn, DeploymentBench, SUITE } from "../../../src/testing/deployment-bench.ts";
import { expectError } from "../../../src/testing/host.ts";
import { enrol } from "../../../src/testing/voters.ts";

describe.each(HTTP_STORES)("the evidence for a promotion whose voters have to be independent, on %s,", (_, open) => {
  let bench: DeploymentBench;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    bench = await DeploymentBench.on(opened.store);
  });
  afterAll(async () => {
    await bench.host.close();
    await drop();
  });

  const gate = { requiredRole: "reviewer", requireIndependentVoters: true };
  const rules = { promote: { test: { requiredEval: { suite: SUITE, acceptHumanOverrides: true }, gate } } };
  const judgedBy = async (principal: string, runId: string, label: "pass" | "fail") => {
    const caller = await enrol(bench.host.store, principal);
    await judgeTask(bench.host.host, { caller, runId, taskId: "a", request: { label }, record: () => undefined });
  };
  /** Requests with a key that the owner makes in the name of a principal. */
  const inNameOf = async (principal: string, roles: string[] = ["reviewer"]) => {
    const made = await bench.host.ask("POST", "/v1/host/assay/keys", { json: { principal, roles, kind: "user" } });
    expect(made.statusCode, made.payload).toBe(201);
    const headers = { authorization: `Bearer ${made.json().key}` };
    return (path: string, json: object) => bench.host.ask("POST", path, { headers, json });
  };
  const asOwner = (path: string, json: object) => bench.host.ask("POST", path, { json });
  type Send = typeof asOwner;
  const judged = async (send: Send, runId: string, json: object) => {
    const answer = await send(`/v1/host/assay/evals/${runId}/tasks/a:judge`, json);
    expect(answer.statusCode, answer.payload).toBe(201);
  };
  const withdrawn = async (send: Send, runId: string) => {
    const listed = await bench.host.ask("GET", `/v1/host/assay/annotations?runId=${runId}`);
    for (const { annotationId } of listed.json().annotations) {
      const answer = await send(`/v1/host/assay/annotations/${annotationId}:retract`, { reason: "in my way" });
      expect(answer.statusCode, answer.payload).toBe(200);
    }
  };
  const begun = async (name: string) => {
    const agent = bench.about(name);
    await agent.policy(rules);
    const evalRunId = await agent.evaluated("1.0.0");
    const score = async () => {
      const refused = expectError(await agent.send({ toState: "test", evalRunId }), "run_state_conflict");
      return conditionsIn(refused)["score"];
    };
    return { agent, evalRunId, score };
  };

  test("keeps a reviewer's fail when the one who asks makes a key in the reviewer's name and judges over it", async () => {
    const { evalRunId, score } = await begun("judged-over");
    await judgedBy("rita-1", evalRunId, "fail");
    expect(await score()).toMatchObject({ met: false });
    await inNameOf("rita-1");
    expect(await score()).toMatchObject({ met: false });
    await judged(asOwner, evalRunId, { label: "pass" });
    expect(await score()).toMatchObject({ met: false });
  });

  test("keeps it when the one who asks withdraws it", async () => {
    const { evalRunId, score } = await begun("taken-back");
    await judgedBy("rita-2", evalRunId, "fail");
    await inNameOf("rita-2");
    await withdrawn(asOwner, evalRunId);
    expect(await score()).toMatchObject({ met: false });
  });

  test("keeps it when it is replaced or withdrawn with that key", async () => {
    const { evalRunId, score } = await begun("in-her-name");
    await judgedBy("rita-3", evalRunId, "fail");
    const asRita = await inNameOf("rita-3");
    await judged(asRita, evalRunId, { label: "pass" });
    expect(await score()).toMatchObject({ met: false });
    await withdrawn(asRita, evalRunId);
    expect(await score()).toMatchObject({ met: false });
  });

  test("keeps a fail of a principal that no owner confirmed when another such principal judges over it", async () => {
    const { evalRunId, score } = await begun("made-up-both");
    await judged(await inNameOf("made-up-1"), evalRunId, { label: "fail" });
    expect(await score()).toMatchObject({ met: false });
    await judged(await inNameOf("made-up-2"), evalRunId, { label: "pass" });
    expect(await score()).toMatchObject({ met: false });
  });

  test("is not improved by the maker of a principal that asks", async () => {
    const { agent, evalRunId } = await begun("asked-by-a-made-up-one");
    await judgedBy("rita-4", evalRunId, "fail");
    await judged(asOwner, evalRunId, { label: "pass" });
    const asAsker = await inNameOf("asker", ["admin"]);
    const path = `/v1/agents/${agent.agentId}/deployments`;
    const answer = await asAsker(path, { version: "1.0.0", transition: "promote", toState: "test", evalRunId });
    expect(conditionsIn(expectError(answer, "run_state_conflict"))["score"]).toMatchObject({ met: false });
  });

  test("counts a tenant's reviewer in whose name a workspace's owner makes a key there", async () => {
    const { evalRunId, score } = await begun("doubted-elsewhere");
    await judgedBy("sue", evalRunId, "fail");
    await judgedBy("rita-5", evalRunId, "pass");
    const before = await score();
    const owner = { principal: "wes", roles: ["owner"], workspace: "east" };
    const made = await bench.host.ask("POST", "/v1/host/assay/keys", { json: owner });
    const headers = { authorization: `Bearer ${made.json().key}` };
    const json = { principal: "rita-5", roles: ["viewer"] };
    const inEast = await bench.host.ask("POST", "/v1/host/assay/keys", { json, headers });
    expect(inEast.statusCode, inEast.payload).toBe(201);
    expect(before).toMatchObject({ met: true });
    expect(await score()).toEqual(before);
  });
});
