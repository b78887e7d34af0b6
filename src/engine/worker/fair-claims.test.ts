import { expect, test } from "vitest";
import { Pace } from "./fair-claims.ts";

function paceAt() {
  let now = 10_000;
  const pace = new Pace(() => now);
  return {
    ask: (tenant: string) => pace.noteRequest(tenant),
    pass: (ms: number) => {
      now += ms;
    },
    rest: (tookMs: number, ...tenants: string[]) => pace.restMs(new Set(tenants), tookMs),
  };
}

test("a backlog has the whole process while no other tenant sends requests", () => {
  const { ask, rest } = paceAt();
  expect(rest(5, "flooded")).toBe(0);
  ask("flooded");
  expect(rest(5, "flooded")).toBe(0);
});

test("a backlog takes a fifth of the time while another tenant sends requests", () => {
  const { ask, rest } = paceAt();
  ask("small");
  expect(rest(5, "flooded")).toBe(20);
});

test("requests of the tenant with the backlog do not hide those of another", () => {
  const { ask, rest } = paceAt();
  ask("small");
  for (let i = 0; i < 100; i++) ask("flooded");
  expect(rest(5, "flooded")).toBe(20);
  expect(rest(5, "small")).toBe(20);
});

test("the rest is bounded, so that a backlog gets on however slow its steps and however many the requests are", () => {
  const { ask, rest } = paceAt();
  ask("small");
  expect(rest(10_000, "flooded")).toBe(100);
});

test("a request is forgotten after a moment", () => {
  const { ask, pass, rest } = paceAt();
  ask("small");
  pass(249);
  expect(rest(5, "flooded")).toBe(20);
  pass(1);
  expect(rest(5, "flooded")).toBe(0);
});

test("a step with runs of several tenants makes room for the requests of each of them", () => {
  const { ask, rest } = paceAt();
  ask("small");
  expect(rest(5, "flooded", "small")).toBe(20);
});
