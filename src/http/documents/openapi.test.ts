import { Validator } from "@seriousme/openapi-schema-validator";
import { beforeAll, describe, expect, test } from "vitest";
import { checkRequest } from "../../formats/reviews/request.ts";
import { ERRORS } from "../../protocol/errors.ts";
import type { Operation } from "../../protocol/operation.ts";
import { OPERATIONS, type OperationId } from "../../protocol/operations.ts";
import { parse } from "../../protocol/schema.ts";
import { openApiDocument } from "./openapi.ts";
import { REQUEST_EXAMPLES } from "./openapi-examples.ts";

// biome-ignore lint/suspicious/noExplicitAny: the document is looked at from outside, as a client would
let document: any;
beforeAll(() => {
  document = JSON.parse(JSON.stringify(openApiDocument("1.2.3")));
});

const served = (Object.entries(OPERATIONS) as [OperationId, Operation][]).filter(
  ([, { capability }]) => capability !== "conformanceSeams",
);

describe("the OpenAPI document", () => {
  test("is valid OpenAPI 3.1", async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
    expect(document.openapi).toMatch(/^3\.1\./);
  });

  test("is the same every time", () => {
    expect(JSON.stringify(openApiDocument("1.2.3"))).toBe(JSON.stringify(openApiDocument("1.2.3")));
  });

  test.each(served)("describes %s", (id, { method, path, errors, access, success, idempotent }) => {
    const described = document.paths[path][method.toLowerCase()];
    expect(described).toMatchObject({ operationId: id });
    expect(Object.keys(described.responses)).toContain(String(success.status));
    for (const code of errors) expect(described.responses[ERRORS[code].status].description).toContain(code);
    expect(described.security === undefined).toBe(access !== "public");
    const parameters = JSON.stringify(described.parameters ?? []);
    expect(parameters.includes("IdempotencyKey")).toBe(idempotent !== undefined);
  });

  test("describes nothing else, the conformance seams least of all", () => {
    const described = Object.values(document.paths).flatMap((path) => Object.keys(path as object));
    expect(described).toHaveLength(served.length);
    expect(JSON.stringify(document)).not.toContain("/v1/host/sample");
  });

  test("refers only to what it holds", () => {
    for (const [, kind, name] of JSON.stringify(document).matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
      expect(document.components[kind ?? ""], `${kind} ${name}`).toHaveProperty(name ?? "");
    }
  });

  test("has no schema that nothing refers to", () => {
    const text = JSON.stringify(document);
    const unused = Object.keys(document.components.schemas).filter((name) => !text.includes(`schemas/${name}"`));
    expect(unused).toEqual([]);
  });

  test.each(Object.entries(REQUEST_EXAMPLES))("shows an example of %s that the host would take", (id, example) => {
    const { body, takesReview } = OPERATIONS[id as OperationId] as Operation;
    if (takesReview === true) return expect(checkRequest(example)).toMatchObject({ ok: true, warnings: [] });
    if (body === undefined) throw new Error(`${id} takes no body`);
    expect(parse(body, example, id)).toEqual(example);
  });
});
