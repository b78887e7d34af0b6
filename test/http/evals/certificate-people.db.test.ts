import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { annotate } from "../../../src/engine/judgments/annotate.ts";
import { runIdentity } from "../../../src/engine/runs/run-identity.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { CalibrationBench, label, politeSuite, refOf } from "../../../src/testing/calibration-bench.ts";
import { conditionsIn } from "../../../src/testing/deployment-bench.ts";
import { AGENT_ID } from "../../../src/testing/eval-bench.ts";
import { expectError } from "../../../src/testing/host.ts";
import { enrol } from "../../../src/testing/voters.ts";

describe.each(HTTP_STORES)("the certificate that a promotion rests on, on %s,", (_, open) => {
  let bench: CalibrationBench;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    bench = await CalibrationBench.on(opened.store);
  });
  afterAll(async () => {
    await bench.host.close();
    await drop();
  });

  const keyOf = async (principal: string) => {
    const made = await bench.host.ask("POST", "/v1/host/assay/keys", { json: { principal, roles: ["admin"] } });
    expect(made.statusCode, made.payload).toBe(201);
    return { authorization: `Bearer ${made.json().key}` };
  };
  const evaluated = async (name: string, toState: "test" | "staged", gate?: object) => {
    const suite = politeSuite(name, 6);
    const evalRunId = await bench.host.evaluate(suite);
    const requiredEval = { suite: refOf(suite), requiredPassScore: 0.5, requireCertificate: { minN: 1 } };
    const json = { promote: { [toState]: { requiredEval, ...(gate === undefined ? {} : { gate }) } } };
    const put = await bench.host.ask("PUT", `/v1/host/assay/promotion-policies/${AGENT_ID}`, { json });
    expect(put.statusCode, put.payload).toBe(200);
    const certify = () => bench.certified({ suite: refOf(suite), runIds: [evalRunId] });
    const ask = (headers?: Record<string, string>) =>
      bench.host.ask("POST", `/v1/agents/${AGENT_ID}/deployments`, {
        json: { version: "1.0.0", transition: "promote", toState, evalRunId },
        ...(headers === undefined ? {} : { headers }),
      });
    return { evalRunId, certify, ask };
  };
  test("rests on no judgment of who asks, nor on one that who asks has withdrawn of another", async () => {
    const { evalRunId, certify, ask } = await evaluated("own-gold", "test");
    const petra = await keyOf("petra");
    const events = [...(await bench.eventsOf(evalRunId)).values()];
    const said = await bench.say(evalRunId, { eventId: events[0] }, label("fail"));
    const others = events.slice(1).entries();
    for (const [i, eventId] of others) {
      const json = { target: { eventId }, signal: label(i % 2 === 0 ? "fail" : "pass") };
      const made = await bench.host.ask("POST", `/v1/runs/${evalRunId}/annotations`, { json, headers: petra });
      expect(made.statusCode, made.payload).toBe(201);
    }
    const path = `/v1/host/assay/annotations/${said}:retract`;
    const gone = await bench.host.ask("POST", path, { json: { reason: "in my way" }, headers: petra });
    expect(gone.statusCode, gone.payload).toBe(200);
    expect(await certify()).toMatchObject({ judgedBy: ["petra"], withdrawnOf: ["ada"] });
    expect(conditionsIn(expectError(await ask(petra), "eval_gate_unmet"))["judge certificate"]).toMatchObject({
      met: false,
      found: "It rests on judgments of petra, who asks for this: let another principal ask.",
    });
    expect((await ask()).statusCode).toBe(200);
  });

  test("rests on no principal that nobody confirmed, where voters have to be independent", async () => {
    const gate = { requiredRole: "reviewer", requireIndependentVoters: true };
    const { evalRunId, certify, ask } = await evaluated("made-up-gold", "staged", gate);
    const quirin = await keyOf("quirin");
    for (const [taskId, eventId] of await bench.eventsOf(evalRunId)) {
      const json = { target: { eventId }, signal: label(Number(taskId.slice(1)) % 2 === 0 ? "pass" : "fail") };
      await bench.host.ask("POST", `/v1/runs/${evalRunId}/annotations`, { json, headers: quirin });
    }
    expect(await certify()).toMatchObject({ judgedBy: ["quirin"] });
    expect((await ask()).payload).toContain("It rests on judgments of quirin, whom no other owner has confirmed.");
  });

  test("loses no verdict of a reviewer to the one who asks and makes a key in the reviewer's name", async () => {
    const gate = { requiredRole: "reviewer", requireIndependentVoters: true };
    const { evalRunId, certify, ask } = await evaluated("replaced-gold", "staged", gate);
    const { host } = bench.host;
    const said = async (principal: string, eventId: string, verdict: "pass" | "fail") => {
      const caller = await enrol(host.store, principal);
      const run = await runIdentity(host, caller, evalRunId);
      const request = { target: { eventId }, signal: { kind: "label" as const, label: verdict } };
      return (await annotate(host, { caller, run, request, record: () => undefined })).annotationId;
    };
    const events = [...(await bench.eventsOf(evalRunId)).values()];
    for (const [i, eventId] of events.entries()) await said("olga", eventId, i % 2 === 0 ? "pass" : "fail");
    const [eventId = ""] = events;
    const supersedes = await said("ruth", eventId, "fail");
    const headers = await keyOf("ruth");
    const json = { target: { eventId }, signal: label("seen"), supersedes };
    const over = await bench.host.ask("POST", `/v1/host/assay/runs/${evalRunId}/annotations`, { json, headers });
    expect(over.statusCode, over.payload).toBe(201);
    expect(await certify()).toMatchObject({ judgedBy: ["olga"], withdrawnOf: ["ruth"] });
    expect((await ask()).payload).toContain("It rests on judgments of ruth, whom no other owner has confirmed.");
  });
});
