import { describe, expect, test } from "vitest";
import { countedVotes, uncountedReasons } from "./counted-votes.ts";
import { gateRules, tallyOf } from "./gate-rules.ts";
import type { Vote } from "./interrupt.ts";

const vote = (voter: string, makers: string[] = [], more: Partial<Vote> = {}): Vote => ({
  voter,
  principal: voter,
  kind: "user",
  action: "accept",
  at: "2026-01-01T00:00:00.000Z",
  ...(makers.length === 0 ? {} : { makers }),
  ...more,
});
const counted = (...votes: Vote[]) =>
  countedVotes(votes)
    .map(({ voter }) => voter)
    .sort();
const why = (one: Vote, votes: Vote[]) => uncountedReasons(votes, 0).get(one);

describe("votes of principals that made each other", () => {
  test("all count where no maker is known", () => {
    expect(counted(vote("a"), vote("b"), vote("c"))).toEqual(["a", "b", "c"]);
  });

  test("count as one for a maker and the principal it made, in either order", () => {
    expect(counted(vote("a"), vote("b", ["a"]))).toHaveLength(1);
    expect(counted(vote("b", ["a"]), vote("a"))).toHaveLength(1);
  });

  test("count as one along a chain of makers", () => {
    const [a, b, c] = [vote("a"), vote("b", ["a"]), vote("c", ["b", "a"])];
    for (const votes of [
      [a, b, c],
      [c, b, a],
      [a, c],
      [b, c],
    ]) {
      expect(counted(...votes)).toHaveLength(1);
    }
  });

  test("count each for two principals of one maker, and the maker adds nothing", () => {
    expect(counted(vote("b", ["a"]), vote("c", ["a"]))).toEqual(["b", "c"]);
    expect(counted(vote("a"), vote("b", ["a"]), vote("c", ["a"]))).toEqual(["b", "c"]);
  });

  test("never count for less when another vote is added", () => {
    const votes = [vote("a"), vote("b", ["a"]), vote("c", ["b", "a"]), vote("d", ["a"]), vote("e")];
    for (let mask = 0; mask < 2 ** votes.length; mask++) {
      const some = votes.filter((_, i) => (mask >> i) % 2 === 1);
      for (const one of votes) {
        if (!some.includes(one)) expect(counted(...some, one).length).toBeGreaterThanOrEqual(counted(...some).length);
      }
    }
  });

  test("say which of them does not count, and why", () => {
    const [a, b] = [vote("a"), vote("b", ["a"])];
    expect(why(b, [a, b])).toBeUndefined();
    expect(why(a, [a, b])).toBe("the key of b was made by a: both count as one until another owner confirms b");
  });

  test("say of votes of one relay that they count as one, and who has to be confirmed", () => {
    const [v1, v2] = ["v1", "v2"].map((one) => vote(one, ["olga"], { principal: "relay", countsAs: "relay" }));
    if (v1 === undefined || v2 === undefined) throw new Error("two votes are expected");
    expect(why(v1, [v1, v2])).toBeUndefined();
    expect(why(v2, [v1, v2])).toBe("votes relayed by relay count as one until another owner confirms relay");
  });

  test("are gone through a few times, however many there are", () => {
    let looks = 0;
    const watched = Array.from({ length: 1000 }, (_, i) => {
      const get = () => {
        looks++;
        return ["olga", `maker-${i}`];
      };
      return Object.defineProperty(vote(`v${i}`), "makers", { get });
    });
    expect(uncountedReasons(watched, 0).size).toBe(0);
    expect(looks).toBeLessThan(50 * watched.length);
  });

  test("are one for a relay that is not confirmed, whatever names it gives", () => {
    const relayed = (voter: string) => vote(voter, ["olga"], { principal: "relay", countsAs: "relay" });
    expect(counted(relayed("v1"), relayed("v2"), relayed("v3"))).toHaveLength(1);
    expect(counted(relayed("v1"), vote("olga"))).toHaveLength(1);
    expect(counted(relayed("v1"), vote("ana"))).toHaveLength(2);
  });
});

describe("people among those who accept", () => {
  const rules = gateRules({ requiredApprovals: 2, minHumans: 1 });

  test("are not the voters that a relay names, unless it is trusted for that", () => {
    const relayed = (more: Partial<Vote>) => vote("v1", [], { principal: "relay", ...more });
    expect(tallyOf({ votes: [relayed({}), vote("bot", [], { kind: "agent" })] }, rules)).toMatchObject({ humans: 0 });
    expect(tallyOf({ votes: [relayed({ relayedPerson: true })] }, rules)).toMatchObject({ humans: 1 });
  });

  test("count before the agents they made where people are asked for, and only there", () => {
    const votes = [vote("ana"), vote("bot", ["ana"], { kind: "agent" }), vote("bot-2", ["ana"], { kind: "agent" })];
    expect(tallyOf({ votes }, rules)).toMatchObject({ granted: 1, humans: 1 });
    expect(tallyOf({ votes: votes.slice(1) }, rules)).toMatchObject({ granted: 2, humans: 0 });
    expect(tallyOf({ votes }, gateRules({ requiredApprovals: 2 }))).toMatchObject({ granted: 2, humans: 0 });
  });
});

test("rejects of a maker and the principal it made are one, and one veto is still a veto", () => {
  const reject = { action: "reject" } as const;
  const votes = [vote("a", [], reject), vote("b", ["a"], reject)];
  expect(tallyOf({ votes }, gateRules({ requiredApprovals: 3 }))).toMatchObject({ granted: 0, rejected: 1 });
});
