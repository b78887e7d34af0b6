import { expect, test } from "vitest";
import { turnsOfOthers } from "../../testing/turns.ts";
import { compileSchema } from "./decide/json-schema.ts";
import { checked, checkedInPieces, checkedTurn, SchemaThread } from "./schema-checks.ts";

const script = new URL("../../../dist/bundle/schema-thread.js", import.meta.url);
const LEVELS = 40;
const levels = Array.from({ length: LEVELS }, (_, level) => {
  const next = { $ref: `#/$defs/d${level + 1}` };
  return [`d${level}`, { allOf: [next, next] }] as const;
});
const $defs = { ...Object.fromEntries(levels), [`d${LEVELS}`]: {} };
/** Each level refers to the next one twice. */
const explosive = { $ref: "#/$defs/d0", $defs };
/** Much work, and it comes to an end. */
const lengthy = { $ref: `#/$defs/d${LEVELS - 15}`, $defs };

const problem = expect.stringContaining("too much work");

test("a check that takes long leaves the thread that decides free, and its verdict is the one of the check", async () => {
  let turns = 0;
  const ticking = setInterval(() => turns++, 1);
  const verdicts = await checked(() => [lengthy, explosive].map((schema) => compileSchema(schema, "schema")({ a: 1 })));
  clearInterval(ticking);
  expect(verdicts).toEqual([[], [{ path: "", problem }]]);
  expect(turns).toBeGreaterThan(0);
});

test("an ordinary check is made at once, without a thread", async () => {
  const none = new SchemaThread({ script: new URL("file:///nothing"), deadlineMs: 1, waitingMax: 0 });
  const check = compileSchema({ type: "object", properties: { a: { type: "integer" } } }, "schema");
  await expect(checked(() => check({ a: "b" }), none)).resolves.toEqual([{ path: "/a", problem: "must be integer" }]);
});

test("a check that misses its deadline is refused with a code, and the next one gets a new thread", async () => {
  const hasty = new SchemaThread({ script, deadlineMs: 0, waitingMax: 10 });
  const decide = () => compileSchema(explosive, "schema")({});
  await expect(checked(decide, hasty)).rejects.toMatchObject({ code: "schema_check_timeout", status: 503 });
  await expect(checked(decide, hasty)).rejects.toMatchObject({ code: "schema_check_timeout" });
  const patient = new SchemaThread({ script, deadlineMs: 60_000, waitingMax: 10 });
  await expect(checked(decide, patient)).resolves.toEqual([{ path: "", problem }]);
});

test("more checks than may wait are refused", async () => {
  const full = new SchemaThread({ script, deadlineMs: 60_000, waitingMax: 0 });
  await expect(checked(() => compileSchema(explosive, "schema")({}), full)).rejects.toMatchObject({
    code: "schema_check_timeout",
  });
});

test("many checks of one decision that are short each do not add up to a long one", async () => {
  const short = compileSchema({ $ref: `#/$defs/d${LEVELS - 10}`, $defs }, "schema");
  let elsewhere = 0;
  const thread = new SchemaThread({ script, deadlineMs: 60_000, waitingMax: 10 });
  const check = thread.check.bind(thread);
  thread.check = (...asked) => {
    elsewhere += 1;
    return check(...asked);
  };
  const verdicts = await checked(() => Array.from({ length: 500 }, (_, i) => short(i)), thread);
  expect(elsewhere).toBe(20);
  // Beyond that nothing is checked, and what is not checked does not match.
  expect(verdicts[0]).toEqual([]);
  expect(verdicts.at(-1)).toMatchObject([{ problem }]);
});

test("a turn pauses between checks that are short each, and its verdicts are those of the checks", async () => {
  const short = compileSchema({ $ref: `#/$defs/d${LEVELS - 10}`, $defs }, "schema");
  const turns = turnsOfOthers();
  const verdicts = await checkedTurn(function* () {
    const found: unknown[] = [];
    for (let i = 0; i < 500; i++) {
      found.push(...short(i));
      yield;
    }
    return found;
  });
  expect(turns()).toBeGreaterThan(5);
  expect(verdicts).toEqual([]);
});

test("a turn of many steps pauses between them, also without any check", async () => {
  const turns = turnsOfOthers();
  await checkedTurn(function* () {
    for (let i = 0; i < 300; i++) {
      const untilMs = performance.now() + 1;
      while (performance.now() < untilMs);
      yield;
    }
  });
  expect(turns()).toBeGreaterThan(5);
});

test("a verdict of a turn does not depend on how many checks came before it, nor does that of a replay", async () => {
  const many = Array.from({ length: 25 }, (_, i) => i);
  const check = compileSchema(lengthy, "schema");
  const turn = await checkedTurn(function* () {
    const found: unknown[] = [];
    for (const i of many) {
      found.push(check({ i }));
      yield;
    }
    return found;
  });
  const replay = await checkedInPieces(async (pieces) => many.map((i) => pieces.take(() => check({ i }))));
  expect(turn).toEqual(many.map(() => []));
  expect(replay).toEqual(turn);
});
