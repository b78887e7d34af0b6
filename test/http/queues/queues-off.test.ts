import { afterAll, beforeAll, expect, test } from "vitest";
import { fillPath } from "../../../src/http/pipeline/read-url.ts";
import type { Operation } from "../../../src/protocol/operation.ts";
import { QUEUE_OPERATIONS } from "../../../src/protocol/queues/operations.ts";
import { expectError, type TestHost, testHost } from "../../../src/testing/host.ts";

let host: TestHost;
beforeAll(async () => {
  host = await testHost({ capabilities: ["auditLogIntegrity"] });
});
afterAll(() => host.close());

test.each(Object.entries(QUEUE_OPERATIONS) as [string, Operation][])(
  "where feedback is switched off, %s says so before it looks at anything",
  async (_id, { method, path }) => {
    const url = fillPath(path, { queueId: "que-none", itemId: "itm-none" });
    for (const as of ["owner", "stranger"] as const) {
      expectError(await host.ask(method, url, { as, body: "{" }), "capability_not_provided");
    }
    const nobody = await host.ask(method, url, { headers: { authorization: "" } });
    expect(nobody.statusCode).toBe(401);
  },
);
