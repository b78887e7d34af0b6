import { expect } from "vitest";
import { workflow } from "../../../src/testing/workflow.ts";
import type { Attack } from "../attack.ts";
import type { Target } from "../target.ts";

const HEADER = { type: "header", format: "assay-judgments", version: 1 };
const AT = "2027-03-01T12:00:00.000Z";
let made = 0;

/** A line of a judgments file that says what the reviewer is to have said. */
function forged(runId: string, more: object = {}): { annotationId: string } {
  made += 1;
  return {
    type: "annotation",
    annotationId: `ann-09${String(made).padStart(24, "0")}`,
    target: { runId },
    signal: { kind: "rating", rating: 5 },
    actor: { principalRef: "rob" },
    createdAt: AT,
    workflowId: "judged",
    actorKind: "person",
    state: "live",
    ...more,
  } as { annotationId: string };
}

function send(target: Target, lines: readonly object[], key?: string) {
  const body = { lines: [HEADER, ...lines] };
  return target.ask("POST", "/v1/host/assay/annotations:import", { body, ...(key === undefined ? {} : { key }) });
}

async function judgedRun(target: Target): Promise<{ runId: string; said: Record<string, unknown> }> {
  await target.register(workflow({ id: "judged", nodes: { a: "core.noop" } }));
  const runId = await target.begin("judged");
  await target.ends(runId);
  const body = { signal: { kind: "rating", rating: 1 } };
  const answer = await target.ask("POST", `/v1/host/assay/runs/${runId}/annotations`, { as: "reviewer", body });
  expect(answer.status, answer.text).toBe(201);
  return { runId, said: { type: "annotation", ...answer.json } };
}

export const attacks: readonly Attack[] = [
  {
    title: "an owner who imports in a reviewer's name neither replaces nor withdraws what the reviewer said",
    async attempt(target) {
      const { runId, said } = await judgedRun(target);
      const id = String(said["annotationId"]);
      const over = forged(runId, { supersedes: id });
      const superseded = { state: "superseded", supersededBy: over.annotationId, supersededAt: AT };
      const retracted = { state: "retracted", retraction: { by: "rob", at: AT, reason: "never meant" } };
      for (const lines of [[over], [{ ...said, ...superseded }, over], [{ ...said, ...retracted }]]) {
        const { status, json } = await send(target, lines);
        expect([status, json.imported, json.updated, json.refused.length]).toEqual([200, 0, 0, lines.length]);
      }
      const { json } = await target.ask("GET", `/v1/host/assay/annotations/${id}`);
      expect(json).toMatchObject({ state: "live", signal: { rating: 1 } });
    },
  },
  {
    title:
      "an agent that makes itself a key in a reviewer's name neither replaces nor withdraws what the reviewer said",
    async attempt(target) {
      const { runId, said } = await judgedRun(target);
      const id = String(said["annotationId"]);
      const makeKey = async (body: object, key?: string): Promise<string> => {
        const by = key === undefined ? {} : { key };
        const answer = await target.ask("POST", "/v1/host/assay/keys", { ...by, body: { kind: "agent", ...body } });
        expect(answer.status, answer.text).toBe(201);
        return answer.json.key;
      };
      const agent = await makeKey({ principal: "agent-in-charge", roles: ["owner"] });
      const asRob = await makeKey({ principal: "rob" }, agent);
      const over = { signal: { kind: "rating", rating: 5 }, supersedes: id };
      const queue = { name: `forged-${id}`, judgment: { kind: "rating" }, blind: false, assign: { people: ["rob"] } };
      const { queueId } = (await target.ask("POST", "/v1/host/assay/queues", { body: queue })).json;
      const items = `/v1/host/assay/queues/${queueId}/items`;
      const added = await target.ask("POST", items, { body: { items: [{ runId }] } });
      const judge = `${items}/${added.json.added[0].itemId}:judge`;
      expect((await target.ask("POST", judge, { as: "reviewer", body: { value: 1 } })).status).toBe(200);
      const refused = [
        await target.ask("POST", `/v1/host/assay/runs/${runId}/annotations`, { key: asRob, body: over }),
        await target.ask("POST", judge, { key: asRob, body: { value: 5, revise: true } }),
      ];
      for (const key of [asRob, agent]) {
        const path = `/v1/host/assay/annotations/${id}:retract`;
        refused.push(await target.ask("POST", path, { key, body: { reason: "x" } }));
      }
      expect(refused.map(({ status, json }) => [status, json.error])).toEqual(refused.map(() => [403, "forbidden"]));
      const { json } = await target.ask("GET", `/v1/runs/${runId}/annotations`);
      expect(json.annotations.map(({ signal }: { signal: { rating: number } }) => signal.rating)).toEqual([1, 1]);
      const own = { as: "reviewer", body: over } as const;
      expect((await target.ask("POST", `/v1/host/assay/runs/${runId}/annotations`, own)).status).toBe(201);
    },
  },
  {
    title:
      "an agent's key in a reviewer's name neither settles an item of a queue nor keeps the reviewer from judging it",
    async attempt(target) {
      const { runId } = await judgedRun(target);
      const people = { people: ["rob", "sue"] };
      const rules = { name: `first-${runId}`, judgment: { kind: "rating" }, reviewersRequired: 2, assign: people };
      const { queueId } = (await target.ask("POST", "/v1/host/assay/queues", { body: rules })).json;
      const items = `/v1/host/assay/queues/${queueId}/items`;
      const added = await target.ask("POST", items, { body: { items: [{ runId }] } });
      const item = `${items}/${added.json.added[0].itemId}`;
      const body = { principal: "rob", kind: "agent" };
      const { key } = (await target.ask("POST", "/v1/host/assay/keys", { body })).json;
      expect((await target.ask("POST", `${item}:judge`, { as: "second", body: { value: 1 } })).status).toBe(200);
      for (const verb of ["judge", "skip"]) {
        const answer = await target.ask("POST", `${item}:${verb}`, {
          key,
          body: verb === "judge" ? { value: 1 } : { reason: "x" },
        });
        expect([answer.status, answer.json.error]).toEqual([403, "forbidden"]);
      }
      const judged = await target.ask("POST", `${item}:judge`, { as: "reviewer", body: { value: 5 } });
      expect([judged.status, judged.json.state]).toEqual([200, "disputed"]);
      const adjudicated = await target.ask("POST", `${item}:adjudicate`, { key, body: { value: 1 } });
      expect(adjudicated.status).toBe(403);
    },
  },
  {
    title: "an import is named in the audit log with every id that it wrote, and shown as imported",
    async attempt(target) {
      const { runId } = await judgedRun(target);
      const lines = [forged(runId), forged(runId)];
      expect((await send(target, lines)).json).toMatchObject({ imported: 2 });
      const ids = lines.map(({ annotationId }) => annotationId);
      const entries: { action: string; details: { annotationIds?: string[] } }[] = [];
      for (let fromSeq: number | undefined = 1; fromSeq !== undefined; ) {
        const path = `/v1/host/assay/audit/entries?limit=1000&fromSeq=${fromSeq}`;
        const { json } = await target.ask("GET", path);
        entries.push(...json.entries);
        fromSeq = json.nextSeq;
      }
      const imports = entries.filter(({ action }) => action === "judgments.import");
      expect(imports.at(-1)?.details.annotationIds).toEqual(ids);
      for (const id of ids) {
        expect((await target.ask("GET", `/v1/host/assay/annotations/${id}`)).json.importedBy).toBe("olga");
      }
    },
  },
  {
    title: "an import with a key of a workspace does not tell whether a run exists in another workspace",
    async attempt(target) {
      const { runId } = await judgedRun(target);
      const body = { principal: "wanda", roles: ["admin"], workspace: "apart" };
      const made = await target.ask("POST", "/v1/host/assay/keys", { body });
      expect(made.status, made.text).toBe(201);
      const answers = [];
      for (const id of [runId, "run-01k4m2n6p8q0r2s4t6v8w0x2y4"]) {
        answers.push((await send(target, [forged(id)], made.json.key)).json);
      }
      expect(answers[0]).toEqual(answers[1]);
      expect(answers[0]).toMatchObject({ imported: 0, refused: [{ line: 2 }] });
    },
  },
];
