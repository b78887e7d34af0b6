import { expect } from "vitest";
import { workflow } from "../../../src/testing/workflow.ts";
import type { Attack } from "../attack.ts";
import { KEYS, type Target, type Who } from "../target.ts";

const ACCEPT = { action: "accept" };
const EDITING = {
  requiredApprovals: 2,
  actions: ["accept", "reject", "edit-accept"],
  artifactData: { to: "the team" },
};

async function waitsAt(target: Target, id: string, config: object): Promise<string> {
  const nodes = { gate: { typeId: "core.approvalGate", config }, after: "core.noop" };
  await target.register(workflow({ id, nodes: nodes as never, edges: ["gate>after"] }));
  const runId = await target.begin(id, {}, "admin");
  await target.reaches(runId, ["waiting-approval"]);
  return runId;
}

const vote = (target: Target, runId: string, resumeValue: object, by: { as?: Who; key?: string }, query = "") =>
  target.ask("POST", `/v1/runs/${runId}/interrupts/gate${query}`, { ...by, body: { resumeValue } });

const makeKey = (target: Target, body: object, by: { as?: Who; key?: string } = {}) =>
  target.ask("POST", "/v1/host/assay/keys", { ...by, body });

async function stillWaits(target: Target, runId: string): Promise<void> {
  const { json } = await target.ask("GET", `/v1/runs/${runId}`);
  expect(json.status).toBe("waiting-approval");
}

export const attacks: readonly Attack[] = [
  {
    title: "an admin does not vote as the owner of a workspace with a key of the tenant made in the owner's name",
    async attempt(target) {
      const workspace = "north";
      const made = await makeKey(target, { principal: "nora", roles: ["owner"], workspace });
      expect((await makeKey(target, { principal: "nils", roles: ["reviewer"] })).status).toBe(201);
      const path = "/v1/host/assay/principals/nils";
      expect((await target.ask("POST", path, { body: { roles: ["owner"], workspace } })).status).toBe(200);
      const nodes = { gate: { typeId: "core.approvalGate", config: { approverRoleRefs: ["owner"] } } };
      await target.register(workflow({ id: "owners-of-north", nodes: nodes as never }));
      const begun = await target.ask("POST", "/v1/runs", {
        key: made.json.key,
        body: { workflowId: "owners-of-north" },
      });
      const { runId } = begun.json;
      await target.reaches(runId, ["waiting-approval"]);
      for (const principal of ["nora", "nils"]) {
        const { status, json } = await makeKey(target, { principal, roles: ["reviewer"] }, { as: "admin" });
        if (json.key !== undefined) await vote(target, runId, ACCEPT, { key: json.key });
        await stillWaits(target, runId);
        expect([status, json.details.roleRequired]).toEqual([403, "owner"]);
      }
      expect((await makeKey(target, { principal: "nora", roles: ["reviewer"] })).status).toBe(201);
    },
  },
  {
    title: "an admin neither changes the owner of a workspace in the tenant nor revokes that owner's key",
    async attempt(target) {
      const made = await makeKey(target, { principal: "wanda", roles: ["viewer"] });
      expect(made.status, made.text).toBe(201);
      const path = "/v1/host/assay/principals/wanda";
      const body = { roles: ["owner"], workspace: "east" };
      expect((await target.ask("POST", path, { body })).status).toBe(200);
      const emptied = await target.ask("POST", path, { as: "admin", body: { roles: [], groups: [] } });
      expect([emptied.status, emptied.json.details?.roleRequired], emptied.text).toEqual([403, "owner"]);
      const { keyId } = made.json.info;
      const revoke = `/v1/host/assay/keys/${keyId}:revoke`;
      const revoked = await target.ask("POST", revoke, { as: "admin", body: {} });
      expect([revoked.status, revoked.json.details?.roleRequired], revoked.text).toEqual([403, "owner"]);
      expect((await target.ask("POST", revoke, { body: {} })).status).toBe(200);
    },
  },
  {
    title: "an admin does not pass a gate for owners with a key that it made for one who became an owner since",
    async attempt(target) {
      const made = await makeKey(target, { principal: "noel", roles: ["reviewer"] }, { as: "admin" });
      const runId = await waitsAt(target, "for-owners", { approverRoleRefs: ["owner"] });
      const path = "/v1/host/assay/principals/noel";
      const raised = [
        await target.ask("POST", path, { body: { roles: ["owner"] } }),
        await makeKey(target, { principal: "noel", roles: ["owner"] }),
      ];
      await vote(target, runId, ACCEPT, { key: made.json.key });
      await stillWaits(target, runId);
      for (const { status, json } of raised) expect([status, json.details.maker]).toEqual([403, "adam"]);
      await target.ask("POST", `/v1/host/assay/keys/${made.json.info.keyId}:revoke`, { body: {} });
      const { key } = (await makeKey(target, { principal: "noel", roles: ["owner"] })).json;
      expect((await vote(target, runId, ACCEPT, { key })).status).toBe(200);
    },
  },
  {
    title: "an owner cannot pass a quorum of two with voters that he names, nor with a relay key that he makes",
    async attempt(target, rounds) {
      for (let round = 0; round < rounds; round++) {
        const runId = await waitsAt(target, "forged-relay", { requiredApprovals: 2 });
        for (const voter of ["made-up-1", "made-up-2", "rob", "sue"]) {
          expect((await vote(target, runId, { ...ACCEPT, voter }, {})).status).toBe(403);
        }
        await target.ask("POST", "/v1/host/assay/roles", { body: { role: "relayer", scopes: ["approvals:relay"] } });
        const scopes = ["*", "approvals:relay"];
        for (const principal of ["olga", `desk-${round}`]) {
          const roles = principal === "olga" ? ["owner", "relayer"] : ["reviewer", "relayer"];
          const { json } = await makeKey(target, { principal, roles, scopes });
          for (const voter of ["rob", "sue"]) await vote(target, runId, { ...ACCEPT, voter }, { key: json.key });
          expect((await vote(target, runId, { ...ACCEPT, voter: "made-up" }, { key: json.key })).status).toBe(403);
        }
        await vote(target, runId, ACCEPT, {});
        await stillWaits(target, runId);
      }
    },
  },
  {
    title:
      "a maker does not pass a quorum of two with a principal it made, and cannot have it confirmed by another one it made",
    async attempt(target) {
      const runId = await waitsAt(target, "forged-people", { requiredApprovals: 2 });
      const first = (await makeKey(target, { principal: "first-made", roles: ["owner"] })).json.key;
      const second = (await makeKey(target, { principal: "second-made", roles: ["owner"] }, { key: first })).json.key;
      for (const key of [first, second]) {
        const answer = await target.ask("POST", "/v1/host/assay/principals/first-made:confirm", { key, body: {} });
        expect([answer.status, answer.json.error]).toEqual([403, "forbidden"]);
      }
      for (const key of [KEYS.owner.key, first, second]) await vote(target, runId, ACCEPT, { key });
      await stillWaits(target, runId);
    },
  },
  {
    title: "an owner does not pass a gate for independent voters with principals that he makes",
    async attempt(target) {
      const rules = { requireIndependentVoters: true, forbidSelfApproval: true };
      const runId = await waitsAt(target, "independent", rules);
      for (const principal of ["puppet-one", "puppet-two"]) {
        const { key } = (await makeKey(target, { principal, roles: ["owner"] })).json;
        const answer = await vote(target, runId, ACCEPT, { key });
        expect([answer.status, answer.json.error]).toEqual([403, "forbidden"]);
      }
      await stillWaits(target, runId);
    },
  },
  {
    title: "an owner does not pass a gate for independent voters with a run that a principal starts which he made",
    async attempt(target) {
      const rules = { requireIndependentVoters: true, forbidSelfApproval: true };
      await waitsAt(target, "asked-by-puppet", rules);
      const { key } = (await makeKey(target, { principal: "asking-puppet", roles: ["owner"] })).json;
      const started = await target.ask("POST", "/v1/runs", { key, body: { workflowId: "asked-by-puppet" } });
      const { runId } = started.json;
      await target.reaches(runId, ["waiting-approval"]);
      const answer = await vote(target, runId, ACCEPT, {});
      expect([answer.status, answer.json.error]).toEqual([403, "forbidden"]);
      await stillWaits(target, runId);
      expect((await vote(target, runId, ACCEPT, { as: "reviewer" })).status).toBe(200);
    },
  },
  {
    title: "a vote for an artifact that was edited meanwhile is refused, with or without what was read",
    async attempt(target) {
      const runId = await waitsAt(target, "forged-artifact", EDITING);
      const { interrupt } = (await target.ask("GET", `/v1/runs/${runId}`)).json;
      const { interruptId, revision, artifactDigest } = interrupt;
      const read = `?interruptId=${interruptId}&revision=${revision}&artifactDigest=${artifactDigest}`;
      const edit = { action: "edit-accept", editedArtifactData: { to: "the press" } };
      expect((await vote(target, runId, edit, { as: "reviewer" }, read)).status).toBe(200);
      for (const query of ["", read, `?revision=1`, `?interruptId=${interruptId}&revision=1`]) {
        const answer = await vote(target, runId, ACCEPT, { as: "second" }, query);
        expect([answer.status, answer.json.error]).toEqual([409, "vote_not_bound"]);
      }
      const item = { interruptId, revision, artifactDigest, resumeValue: ACCEPT };
      const { json } = await target.ask("POST", "/v1/host/assay/inbox:decide", {
        as: "second",
        body: { items: [item] },
      });
      expect(json.results[0].error.error).toBe("vote_not_bound");
      await stillWaits(target, runId);
    },
  },
  {
    title: "a person's vote does not approve what an agent has made of the artifact since",
    async attempt(target) {
      const config = { ...EDITING, requiredApprovals: 1, minHumans: 1 };
      const runId = await waitsAt(target, "edited-by-agent", config);
      const { key } = (await makeKey(target, { principal: "edit-bot", kind: "agent", roles: ["reviewer"] })).json;
      const edited = { action: "edit-accept", editedArtifactData: { to: "everyone" } };
      const unbound = await vote(target, runId, edited, { key });
      const { interruptId, revision, artifactDigest } = unbound.json.details ?? {};
      const query = `?interruptId=${interruptId}&revision=${revision}&artifactDigest=${artifactDigest}`;
      await vote(target, runId, edited, { key }, query);
      for (const read of ["", query]) {
        const answer = await vote(target, runId, ACCEPT, { as: "reviewer" }, read);
        expect([answer.status, answer.json.error], answer.text).toEqual([409, "vote_not_bound"]);
      }
      await stillWaits(target, runId);
    },
  },
  {
    title: "an answer to what an agent was not sure of approves no later decision of the agent",
    async attempt(target) {
      const plan = ["first-task", "second-task"].map((id) => ({ kind: "next-worker", nextWorkerIds: [id] }));
      for (const id of ["first-task", "second-task"]) {
        await target.register(workflow({ id, nodes: { only: "core.noop" } }));
      }
      const lead = {
        typeId: "core.orchestrator.supervisor",
        config: { mockDispatchPlan: plan, mockConfidence: 0.2 },
      };
      const nodes = { gate: lead, do: { typeId: "core.dispatch", config: {} } };
      await target.register(workflow({ id: "unsure", nodes, edges: ["gate>do", "do>gate"] }));
      const runId = await target.begin("unsure", {}, "admin");
      await target.reaches(runId, ["waiting-approval"]);
      expect((await vote(target, runId, ACCEPT, { as: "reviewer" })).status).toBe(200);
      for (let tries = 0; tries < 20; tries++) {
        const { json } = await target.ask("GET", `/v1/runs/${runId}`);
        if (json.status === "waiting-approval" && json.childRuns?.length === 1) break;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      const repeated = await vote(target, runId, ACCEPT, { as: "reviewer" });
      expect([repeated.status, repeated.json.error]).toEqual([409, "vote_not_bound"]);
      await stillWaits(target, runId);
    },
  },
];
