import { describe, expect, test } from "vitest";
import { scrubber } from "./scrub.ts";

const SECRET = "sk-canary-rfc0056-do-not-leak-abc123";
const { scrubText } = scrubber({ known: ["correct horse battery"] });

describe("characters that nobody sees", () => {
  test.each(["\u200b", "\\u200b", "\u00ad", "\ufeff", "\u2060", "\u200d\u200c"])("hide no secret: %j", (unseen) => {
    const split = [...SECRET].join(unseen);
    expect(scrubText(`before ${split} after`)).toBe("before [REDACTED] after");
    expect(scrubText(`${SECRET.slice(0, 9)}${unseen}${SECRET.slice(9)}`)).toBe("[REDACTED]");
    expect(scrubText(`the correct ho${unseen}rse battery it is`)).toBe("the [REDACTED] it is");
    expect(scrubText(`%73k-${unseen}${SECRET.slice(3)}.`)).toBe("[REDACTED].");
  });

  test("stay where they are when they hide nothing", () => {
    const text = "👩\u200d🚀 co\u00adoperates, 100 % of the time\ufeff";
    expect(scrubText(text)).toBe(text);
  });
});
