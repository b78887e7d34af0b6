import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { rawHttp } from "../../../src/testing/raw-http.ts";
import { workflow } from "../../../src/testing/workflow.ts";
import type { Attack } from "../attack.ts";
import type { Target } from "../target.ts";

const KEYS_PATH = "/v1/host/assay/keys";
/** The key cache time and more. */
const LATER_MS = 1500;

async function newKey(target: Target, body: object): Promise<{ readonly key: string; readonly keyId: string }> {
  const { status, json, text } = await target.ask("POST", KEYS_PATH, { body });
  expect(status, text).toBe(201);
  return { key: json.key, keyId: json.info.keyId };
}

/** Sends the head and half of a body, and the rest when `finish` is called. */
async function begin(target: Target, key: string, path: string, body: object) {
  const text = JSON.stringify(body);
  const [head, rest] = [text.slice(0, 5), text.slice(5)];
  let finish = () => {};
  const answer = rawHttp(target.url, (socket) => {
    const lines = [
      `POST ${path} HTTP/1.1`,
      "Host: h",
      `Authorization: Bearer ${key}`,
      "Content-Type: application/json",
    ];
    socket.write([...lines, `Content-Length: ${text.length}`, "Connection: close", "", head].join("\r\n"));
    finish = () => void socket.write(rest);
  });
  // The host has checked the head by then.
  await sleep(300);
  return async () => {
    await sleep(LATER_MS);
    finish();
    return answer;
  };
}

export const attacks: readonly Attack[] = [
  {
    title: "a request that is sent to its end after its key was revoked is refused, and changes nothing",
    async attempt(target) {
      const { key, keyId } = await newKey(target, { principal: "slow-owner", roles: ["owner"] });
      const finish = await begin(target, key, KEYS_PATH, { principal: "slow-heir", roles: ["owner"] });
      expect((await target.ask("POST", `${KEYS_PATH}/${keyId}:revoke`)).status).toBe(200);
      const { status, body } = await finish();
      expect([status, body], body).toEqual([401, expect.stringContaining("key_revoked")]);
      expect((await target.ask("GET", KEYS_PATH)).text).not.toContain("slow-heir");
    },
  },
  {
    title: "a vote that is sent to its end after its key was revoked is not counted",
    async attempt(target) {
      const nodes = { gate: { typeId: "core.approvalGate", config: { approverRoleRefs: ["reviewer"] } } };
      await target.register(workflow({ id: "slow-votes", nodes: nodes as never }));
      const runId = await target.begin("slow-votes");
      await target.reaches(runId, ["waiting-approval"]);
      const { key, keyId } = await newKey(target, { principal: "slow-reviewer", roles: ["reviewer"] });
      const resumeValue = { action: "accept" };
      const finish = await begin(target, key, `/v1/runs/${runId}/interrupts/gate`, { resumeValue });
      expect((await target.ask("POST", `${KEYS_PATH}/${keyId}:revoke`)).status).toBe(200);
      expect((await finish()).status).toBe(401);
      expect((await target.ask("GET", `/v1/runs/${runId}`)).json.status).toBe("waiting-approval");
    },
  },
  {
    title: "a request that is sent to its end after its principal lost the role or its key expired is refused",
    async attempt(target) {
      const heir = { principal: "slow-heir", roles: ["owner"] };
      const demoted = await newKey(target, { principal: "slow-demoted", roles: ["owner"] });
      const asDemoted = await begin(target, demoted.key, KEYS_PATH, heir);
      const path = "/v1/host/assay/principals/slow-demoted";
      expect((await target.ask("POST", path, { body: { roles: ["viewer"] } })).status).toBe(200);
      const expiresAt = new Date(Date.now() + 1000).toISOString();
      const expiring = await newKey(target, { principal: "slow-expiring", roles: ["owner"], expiresAt });
      const asExpired = await begin(target, expiring.key, KEYS_PATH, heir);
      const answers = await Promise.all([asDemoted(), asExpired()]);
      expect(answers.map(({ status }) => status)).toEqual([403, 401]);
      expect(answers[1]?.body).toContain("key_expired");
    },
  },
];
