import { expect } from "vitest";
import { workflow } from "../../../src/testing/workflow.ts";
import type { Attack } from "../attack.ts";
import type { Target } from "../target.ts";

const LEVELS = 40;
const refersTwice = Object.fromEntries(
  Array.from({ length: LEVELS }, (_, level) => {
    const next = { $ref: `#/$defs/d${level + 1}` };
    return [`d${level}`, { allOf: [next, next] }];
  }),
);
const $defs = { ...refersTwice, [`d${LEVELS}`]: {} };
const members = Array.from({ length: 3000 }, (_, i) => ({ id: i, of: { name: "x" } }));
/** Millions of comparisons in pairs, then a reference that doubles at each level. */
const resumeSchema = { $defs, properties: { items: { items: { enum: members } } }, allOf: [{ $ref: "#/$defs/d0" }] };
const items = Array.from({ length: 15_000 }, (_, i) => ({ of: { name: "x" }, id: i % 3000 }));

/** Asks for something else until the answer is there; gives how often that was answered. */
async function meanwhile(target: Target, answer: Promise<unknown>): Promise<number> {
  let done = false;
  const ended = answer.finally(() => {
    done = true;
  });
  let others = 0;
  while (!done) {
    expect((await target.ask("GET", "/v1/host/assay/whoami")).status).toBe(200);
    others += 1;
  }
  await ended;
  return others;
}

async function waiting(target: Target, id: string, schema: object): Promise<string> {
  const gate = {
    typeId: "core.interrupt",
    config: { kind: "custom", data: { customKind: "answer" }, resumeSchema: schema },
  };
  await target.register(workflow({ id, nodes: { gate } }));
  const runId = await target.begin(id);
  await target.reaches(runId, ["waiting-input", "waiting-approval", "waiting-external"]);
  return `/v1/runs/${runId}/interrupts/gate`;
}

export const attacks: readonly Attack[] = [
  {
    title: "an answer that takes long to check is refused, and others are answered meanwhile",
    async attempt(target, rounds) {
      for (let round = 0; round < rounds; round++) {
        const path = await waiting(target, `costly-${round}`, resumeSchema);
        const answer = target.ask("POST", path, { body: { resumeValue: { items } } });
        const others = await meanwhile(target, answer);
        const { status, json } = await answer;
        expect([status, json.error, json.message]).toEqual([
          400,
          "validation_error",
          expect.stringContaining("too much work"),
        ]);
        // One answer comes before the check begins, and one after it has ended.
        expect(others).toBeGreaterThan(2);
      }
    },
  },
  {
    title: "a caller with nothing but an interrupt token cannot hold the host with an answer that takes long to check",
    async attempt(target) {
      const path = await waiting(target, "costly-by-token", resumeSchema);
      const runId = path.split("/")[3];
      const { json } = await target.ask("GET", `/v1/runs/${runId}`);
      const token = json.interrupt.interruptToken;
      expect(token).toEqual(expect.any(String));
      const body = { resumeValue: { items } };
      const answer = target.ask("POST", `/v1/interrupts/${token}`, { as: "nobody", body });
      const others = await meanwhile(target, answer);
      expect([(await answer).status, (await answer).json.error]).toEqual([400, "validation_error"]);
      expect(others).toBeGreaterThan(2);
    },
  },
  {
    title: "an enumeration of thousands of objects is no trouble for thousands of items",
    async attempt(target) {
      const path = await waiting(target, "many", { properties: { items: { items: { enum: members } } } });
      const wrong = await target.ask("POST", path, { body: { resumeValue: { items: [...items, { id: -1 }] } } });
      expect([wrong.status, wrong.json.error]).toEqual([400, "validation_error"]);
      expect((await target.ask("POST", path, { body: { resumeValue: { items } } })).status).toBe(200);
    },
  },
  {
    title: "a schema that is too large is refused when its workflow is registered",
    async attempt(target) {
      const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`p${i}`, { type: "string" }]));
      const body = workflow({ id: "large", nodes: { a: "core.noop" }, configurableSchema: { properties } });
      const answer = await target.ask("POST", "/v1/workflows", { body });
      expect([answer.status, answer.json.error]).toEqual([400, "schema_too_large"]);
      expect((await target.ask("GET", "/v1/workflows/large")).status).toBe(404);
    },
  },
  {
    title: "patterns and expressions that take long to compile are refused when their workflow is registered",
    async attempt(target) {
      const nodes = { a: "core.noop", b: "core.noop" };
      const register = (more: object) =>
        target.ask("POST", "/v1/workflows", { body: { ...workflow({ id: "patterns", nodes }), ...more } });
      const edges = (patterns: readonly string[]) =>
        patterns.map((right, i) => {
          const condition = { type: "regex", left: "output", right };
          return { id: `e${i}`, sourceNodeId: "a", targetNodeId: "b", condition };
        });
      const many = await register({ edges: edges(Array.from({ length: 200 }, (_, i) => `((a{0,31}){0,31})${i}`)) });
      expect([many.status, many.json.message]).toEqual([400, expect.stringContaining("20000 states together")]);
      const one = await register({ edges: edges(["(?:(?:a{0,31}){0,31})".repeat(100)]) });
      expect([one.status, one.json.message]).toEqual([400, expect.stringContaining("more than 5000 states")]);
      const schema = await register({ configurableSchema: { pattern: "(?:(?:a{0,31}){0,31})".repeat(100) } });
      expect([schema.status, schema.json.error]).toEqual([400, "schema_too_large"]);
      const expressions = Array.from({ length: 100 }, (_, i) => {
        const expression = `[${i},${"x,".repeat(900)}1]`.padEnd(4_000);
        return [`p${i}`, { type: "expression" as const, expression }];
      });
      const node = { typeId: "core.identity", inputs: Object.fromEntries(expressions) };
      const long = await target.ask("POST", "/v1/workflows", {
        body: workflow({ id: "expressions", nodes: { node } }),
      });
      expect([long.status, long.json.message]).toEqual([400, expect.stringContaining("262144 characters together")]);
    },
  },
];
