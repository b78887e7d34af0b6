import { describe, expect, test } from "vitest";
import { checkResponse } from "../formats/reviews/check-response.ts";
import { CONFIDENCE_LEVELS, ERROR_CODES, PROCESSING_STATUSES, REMARK_ID } from "../formats/reviews/response.ts";
import { AGENT_FILE, AGENT_FILE_EXAMPLES, opencodeAgentFile } from "./opencode-agent.ts";

describe("the agent file of the opencode command", () => {
  const [, front = "", prompt = ""] = /^---\n(.*?)\n---\n\n(.*)$/s.exec(opencodeAgentFile()) ?? [];

  test("is named for the agent that requests ask for", () => {
    expect(AGENT_FILE).toBe(".opencode/agent/qualitative-reviewer.md");
  });

  test("makes an agent that is asked directly and may use no tool", () => {
    expect(front.split("\n")).toEqual([
      expect.stringMatching(/^description: \S/),
      "mode: primary",
      "permission:",
      '  "*": deny',
    ]);
  });

  test.each(AGENT_FILE_EXAMPLES)("shows answers that keep to the protocol, %#", (example) => {
    const sentIds = "applied_feedback_ack" in example ? { sentIds: ["rollback.no-way-back"] } : {};
    const checked = checkResponse(example, { iteration: example.iteration, strict: true, ...sentIds });
    expect(checked.problems).toEqual([]);
    const { applied_feedback_ack: ack, ...rest } = example as typeof example & { applied_feedback_ack?: object };
    expect(prompt).toContain(ack === undefined ? JSON.stringify(rest) : JSON.stringify({ applied_feedback_ack: ack }));
  });

  test("names every word that an answer may hold", () => {
    const said = [...CONFIDENCE_LEVELS, ...PROCESSING_STATUSES].map((word) => `"${word}"`);
    const codes = ERROR_CODES.filter((code) => code !== "INTERNAL_ERROR").map((word) => `"${word}"`);
    for (const word of [...said, ...codes, REMARK_ID.source]) expect(prompt).toContain(word);
  });
});
