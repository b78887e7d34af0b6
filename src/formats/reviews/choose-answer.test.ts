import { describe, expect, test } from "vitest";
import { AnswerFinder } from "./choose-answer.ts";

const answer = (summary: string) =>
  JSON.stringify({
    protocol_version: "1.2",
    iteration: 1,
    status: "success",
    feedback: { areas_for_improvement: [], general_summary: summary },
  });

type Message = readonly [type: "step_start" | "text" | "step_finish", part: Readonly<Record<string, unknown>>];

function found(...messages: readonly Message[]) {
  const finder = new AnswerFinder();
  for (const [type, part] of messages) finder.take({ type, part });
  const { best } = finder.choose({ iteration: 1 });
  const response = best?.checked.response;
  return {
    summary: response?.status === "success" ? response.feedback.general_summary : undefined,
    how: best?.decoded.how,
    finished: best?.finished,
    unfinished: finder.unfinished,
  };
}

const text = (content: string, messageID?: string): Message => ["text", { text: content, messageID }];
const finish = (reason: unknown, messageID?: string): Message => ["step_finish", { reason, messageID }];

describe("texts that name no message", () => {
  test("belong together, also with the end of their step", () => {
    const whole = answer("split");
    expect(found(text(whole.slice(0, 40)), text(whole.slice(40)), finish("stop"))).toMatchObject({
      summary: "split",
      how: "joined",
      finished: true,
    });
  });

  test("are not cut short by the beginning of a step that names none either", () => {
    expect(found(["step_start", {}], text("no answer")).unfinished).toBe(false);
    expect(found(["step_start", { messageID: "m" }], text("no answer", "m")).unfinished).toBe(true);
  });
});

describe("the reason for which a step ended", () => {
  test.each([[undefined], [7], [null]])("counts as a normal end when it is %j", (reason) => {
    const earlier = found(
      text(answer("first"), "a"),
      finish(reason, "a"),
      text(answer("second"), "b"),
      finish("stop", "b"),
    );
    expect(earlier.summary).toBe("first");
  });

  test.each([["tool-calls"], ["unknown"]])("says with %s that more was to follow", (reason) => {
    const later = found(
      text(answer("first"), "a"),
      finish(reason, "a"),
      text(answer("second"), "b"),
      finish("stop", "b"),
    );
    expect(later.summary).toBe("second");
  });

  test.each([["length"], ["content-filter"]])("says with %s that nothing was to follow", (reason) => {
    const earlier = found(
      text(answer("first"), "a"),
      finish(reason, "a"),
      text(answer("second"), "b"),
      finish("stop", "b"),
    );
    expect(earlier.summary).toBe("first");
  });

  test("is the last one of its message", () => {
    const steps = [finish("tool-calls", "a"), finish("stop", "a"), text(answer("second"), "b"), finish("stop", "b")];
    expect(found(text(answer("first"), "a"), ...steps).summary).toBe("first");
  });

  test("is none where the step never ended, which makes it no step on the way", () => {
    const { summary, finished } = found(text(answer("first"), "a"), text(answer("second"), "b"), finish("stop", "b"));
    expect([summary, finished]).toEqual(["first", false]);
  });
});
