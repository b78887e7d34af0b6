import { describe, expect, test } from "vitest";
import { type Interrupt, type Vote, wasDecidedByPerson } from "./interrupt.ts";

type Decision = Pick<Interrupt, "kind" | "status" | "votes" | "resolvedBy" | "resolvedByKind">;

function vote(kind: Vote["kind"]): Vote {
  return { voter: "ada", principal: "ada", kind, action: "accept", at: "2027-03-01T12:00:00.000Z" };
}

describe("an interrupt was decided by a person", () => {
  test.each<[string, Partial<Decision>, boolean]>([
    ["with a person's vote", { votes: [vote("agent"), vote("user")] }, true],
    ["with a vote by a token that was sent to somebody", { votes: [vote("token")] }, true],
    ["not with agents' votes alone", { votes: [vote("agent"), vote("code")], resolvedBy: "ada" }, false],
    ["when a person answered", { resolvedBy: "ada", resolvedByKind: "user" }, true],
    ["when somebody answered with a token", { resolvedBy: "ada", resolvedByKind: "token" }, true],
    ["not when an agent answered", { resolvedBy: "ada", resolvedByKind: "agent" }, false],
    ["not when code answered", { resolvedBy: "ada", resolvedByKind: "code" }, false],
    ["when somebody answered and it was not written down what they are", { resolvedBy: "ada" }, true],
    ["not by an event from outside", { kind: "external-event", resolvedBy: "ada", resolvedByKind: "user" }, false],
    ["not when nobody answered", {}, false],
    ["not while it is open", { status: "open", votes: [vote("user")] }, false],
    ["not when its time was over", { status: "expired", votes: [vote("user")] }, false],
    ["not when its run ended first", { status: "cancelled", votes: [vote("user")] }, false],
  ])("%s", (_, more, expected) => {
    expect(wasDecidedByPerson({ kind: "approval", status: "resolved", votes: [], ...more })).toBe(expected);
  });
});
