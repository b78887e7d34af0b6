import { expect, test } from "vitest";
import { gateRules } from "../../../protocol/gates/gate-rules.ts";
import { governedAnswer, plainAnswer } from "./gate-answer.ts";

const rules = gateRules({ title: "Ship it?", actions: ["accept", "reject"] });

test.each(["host", "Token", "assay:sweep", "\u200bsystem"])(
  "no vote is relayed for %j, a name of the host's own",
  (voter) => {
    expect(() => plainAnswer({ action: "accept", voter }, rules)).toThrow(/a name that the host writes itself/);
    expect(() => governedAnswer({ decision: "granted", voter }, {})).toThrow(/a name that the host writes itself/);
  },
);

test("a vote is relayed for names that only look a little alike", () => {
  expect(plainAnswer({ action: "accept", voter: "hostess" }, rules)).toMatchObject({ voter: "hostess" });
  expect(governedAnswer({ decision: "granted", voter: "assaye" }, {})).toMatchObject({ voter: "assaye" });
});
