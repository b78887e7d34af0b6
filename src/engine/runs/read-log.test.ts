import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestHost, testHost } from "../../testing/host.ts";
import { JudgmentClient } from "../../testing/judgment-client.ts";
import { eventPages } from "./read-log.ts";

let host: TestHost;
beforeAll(async () => {
  host = await testHost({ worker: true });
});
afterAll(() => host.close());

test("whoever reads the log of a run that is deleted meanwhile learns that it is gone", async () => {
  const runId = await new JudgmentClient(host).ended();
  const pages = eventPages(host.store, { runId, from: 0, to: 1 });
  await host.ask("DELETE", `/v1/host/assay/runs/${runId}`);
  const reading = pages.next();
  await expect(reading).rejects.toMatchObject({ code: "not_found" });
});
