import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { JudgeInput, JudgeOutput } from "../../protocol/evals/judge-api.ts";

const page = readFileSync(new URL("../../../docs/formats/judge.md", import.meta.url), "utf8");

describe("the page about judges", () => {
  test.each([
    ["input", JudgeInput],
    ["output", JudgeOutput],
  ])("has the schema of the %s as it is", (which, schema) => {
    const part = page.split(`<!-- ${which} -->\n\`\`\`json\n`)[1]?.split(`\n\`\`\`\n<!-- /${which} -->`)[0] ?? "null";
    expect(JSON.parse(part)).toEqual(JSON.parse(JSON.stringify(schema)));
  });
});
