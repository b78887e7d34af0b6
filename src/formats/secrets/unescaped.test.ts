import { describe, expect, test } from "vitest";
import { scrubber } from "./scrub.ts";

const SECRET = "sk-canary-rfc0056-do-not-leak-abc123";
const { scrubText } = scrubber({ known: ["correct horse battery"] });

describe("invisible characters", () => {
  test.each(["\u200b", "\\u200b", "\u202e", "\u2066", "\ufe0f", "\u00ad", "\ufeff", "\u2060", "\u200d\u200c"])(
    "hide no secret: %j",
    (unseen) => {
      const split = [...SECRET].join(unseen);
      expect(scrubText(`before ${split} after`)).toBe("before [REDACTED] after");
      expect(scrubText(`${SECRET.slice(0, 9)}${unseen}${SECRET.slice(9)}`)).toBe("[REDACTED]");
      expect(scrubText(`the correct ho${unseen}rse battery it is`)).toBe("the [REDACTED] it is");
      expect(scrubText(`%73k-${unseen}${SECRET.slice(3)}.`)).toBe("[REDACTED].");
    },
  );

  test("stay where they are when they hide nothing", () => {
    const text = "👩\u200d🚀 co\u00adoperates, 100 % of the time\ufeff";
    expect(scrubText(text)).toBe(text);
  });
});

describe("sequences that colour the text of a terminal", () => {
  const COLOUR = "\u001b[1;32m";
  const RESET = "\u001b[0m";
  const ways: Readonly<Record<string, (text: string) => string>> = {
    "as they are": (text) => text,
    "in JSON": (text) => JSON.stringify(text),
    "in JSON in JSON": (text) => JSON.stringify(JSON.stringify(text)),
    "in a URL": (text) => encodeURIComponent(text),
    "with \\x1b": (text) => text.replaceAll("\u001b", "\\x1b"),
    "with \\033": (text) => text.replaceAll("\u001b", "\\033"),
    "with \\e": (text) => text.replaceAll("\u001b", "\\e"),
    "in eight bits": (text) => text.replaceAll("\u001b[", "\u009b"),
  };

  test.each(Object.entries(ways))("hide no secret: %s", (_, write) => {
    for (const text of [
      `${COLOUR}${SECRET}${RESET}`,
      `see${COLOUR}${SECRET}`,
      `${COLOUR}DB_PASSWORD${RESET}=hunter2`,
      `password=${COLOUR}hunter2${RESET}`,
      `password: ${COLOUR}hunter2${RESET}\n`,
      `tool ${COLOUR}--password${RESET} hunter2`,
      `the correct ${COLOUR}horse${RESET} battery`,
    ]) {
      const clean = scrubText(write(text));
      expect(clean, text).toContain("[REDACTED]");
      expect(clean, text).not.toMatch(/abc123|hunter2|battery/);
      expect(scrubText(clean), text).toBe(clean);
    }
  });

  test("and its links, titles and character sets hide none either", () => {
    expect(scrubText(`\u001b(B${SECRET}`)).toBe("[REDACTED]");
    expect(scrubText("DB_PASS\u001b]8;;http://x\u0007WORD\u001b]8;;\u001b\\=hunter2")).not.toContain("hunter2");
    expect(scrubText("\u001b]0;http://x/?p%61ssword=hunter2\u0007")).not.toContain("hunter2");
  });

  test("stay where they are when they hide nothing", () => {
    const text = `${COLOUR}ok${RESET} 12 tests in C:\\x64\\e2e \\033 and \\e[0m \u001b`;
    expect(scrubText(text)).toBe(text);
  });
});

test("a secret after a character that is written by its code is found", () => {
  expect(scrubText(`'\\x22${SECRET}\\x22'`)).toBe("'\\x22[REDACTED]\\x22'");
});
