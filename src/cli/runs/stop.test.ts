import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../testing/engine.ts";
import { KEYS, type TestHost, testHost } from "../../testing/host.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import type { Config } from "../settings/settings.ts";
import { runDelete } from "./stop.ts";

let host: TestHost;
let config: Config;
beforeAll(async () => {
  host = await testHost({ worker: true });
  config = { url: await host.listen(), key: KEYS.owner.key, timeoutMs: 10_000 } as Config;
});
afterAll(() => host.close());

test.each([
  ["y", true],
  ["Yes ", true],
  ["", false],
  ["n", false],
  ["yesterday", false],
])("a person who answers %j has the run deleted: %j", async (answer, deleted) => {
  const runId = await host.newRun();
  await until(host.store, runId, ({ status }) => status === "completed");
  const asked: string[] = [];
  const io = recordedIo({
    ask: async (question) => {
      asked.push(question);
      return answer;
    },
  });
  const code = await runDelete({
    args: [runId],
    flags: { yes: false },
    json: false,
    config,
    given: new Set(),
    isSet: () => false,
    io,
  });
  expect(asked).toEqual([`Delete ${runId} for good, with everything about it? [y/N] `]);
  expect({ code, out: io.outLines }).toEqual(deleted ? { code: 0, out: [`${runId} deleted`] } : { code: 2, out: [] });
  expect((await host.ask("GET", `/v1/runs/${runId}`)).statusCode).toBe(deleted ? 404 : 200);
});
