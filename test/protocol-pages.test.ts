import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { checkResponse } from "../src/formats/reviews/check-response.ts";
import { checkRequest } from "../src/formats/reviews/request.ts";
import { Discovery } from "../src/protocol/discovery.ts";
import { ERRORS } from "../src/protocol/errors.ts";
import { OPERATIONS } from "../src/protocol/operations.ts";
import { SCHEMA_NAMES, type SchemaName, schemaDocument } from "../src/protocol/published-schemas.ts";
import {
  AFP_DECISIONS,
  AFP_ERROR_CODES,
  AFP_PROCESSING_STATUSES,
  AFP_SESSION_NAMES,
} from "../src/protocol/reviews/afp.ts";
import { RunReviewQuery } from "../src/protocol/reviews/api.ts";

const read = (name: string) => readFileSync(new URL(`../docs/${name}`, import.meta.url), "utf8");
const blocks = (page: string, language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(([, content = ""]) => content);

function expectValid(name: SchemaName, value: unknown): void {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  expect(ajv.validate(schemaDocument(name), value), ajv.errorsText()).toBe(true);
}

describe("the page about the feedback protocol", () => {
  const page = read("formats/afp.md");
  const [request = "", response = ""] = blocks(page, "json");

  test("has a request that the provider takes without a warning", () => {
    expect(checkRequest(JSON.parse(request))).toMatchObject({ ok: true, warnings: [] });
    expectValid("afp-request", JSON.parse(request));
  });

  test("has the response to that request, without a fault", () => {
    const { iteration, applied_feedback } = JSON.parse(request);
    const sentIds = applied_feedback.items.map(({ id }: { id: string }) => id);
    expect(checkResponse(JSON.parse(response), { iteration, sentIds })).toMatchObject({ problems: [], warnings: [] });
    expectValid("afp-response", JSON.parse(response));
  });

  test("has a stream of three lines with a response in it", () => {
    const [stream = ""] = blocks(page, "jsonl");
    const lines = stream
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ type }) => type)).toEqual(["step_start", "text", "step_finish"]);
    for (const line of lines) expectValid("afp-message", line);
    expectValid("afp-response", JSON.parse(lines[1].part.text));
  });

  test("names every word of the protocol", () => {
    const words = [...AFP_DECISIONS, ...AFP_ERROR_CODES, ...AFP_PROCESSING_STATUSES, ...AFP_SESSION_NAMES];
    for (const word of [...words, ...Object.keys(RunReviewQuery.properties)]) expect(page).toContain(`\`${word}`);
  });

  test("gives the errors of the route with their status", () => {
    expect(page).toContain(OPERATIONS.runReview.path);
    const rows = [...page.matchAll(/^\| (\d{3}) \| `(\w+)` \| `(\w+)` \|/gm)];
    expect(rows).toHaveLength(6);
    for (const [, status, code = ""] of rows) expect(ERRORS[code as keyof typeof ERRORS].status).toBe(Number(status));
  });

  test("has the outcomes of the guide, in its order", () => {
    const outcomes = (text: string) => {
      const section = text.slice(text.indexOf("| Outcome |"));
      const table = section.slice(0, section.indexOf("\n\n"));
      return [...table.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = ""]) => cell.match(/\w+/g) ?? []);
    };
    expect(outcomes(page)).toEqual(outcomes(read("reviews.md")));
    expect(outcomes(page)).toHaveLength(13);
  });
});

describe("the page about the protocol", () => {
  const page = read("openwop.md");

  test("names every member of the discovery document", () => {
    const named = new Set([...page.matchAll(/`([\w.]+)`/g)].map(([, word = ""]) => word.split(".")[0]));
    expect(Object.keys(Discovery.properties).filter((member) => !named.has(member))).toEqual([]);
  });

  test("names every published schema and its file", () => {
    for (const name of SCHEMA_NAMES) expect(page).toContain(`[\`${name}\`](schemas/${name}.schema.json)`);
  });

  test("gives codes with the status that they have", () => {
    const given = [...page.matchAll(/\b(\d{3}) `(\w+)`/g)].filter(([, , code = ""]) => code in ERRORS);
    expect(given.length).toBeGreaterThan(5);
    for (const [, status, code = ""] of given)
      expect(ERRORS[code as keyof typeof ERRORS].status, code).toBe(Number(status));
  });
});
