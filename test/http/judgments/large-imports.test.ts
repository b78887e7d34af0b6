import { afterAll, beforeAll, expect, test } from "vitest";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { foreignLine, HEADER } from "../../../src/testing/judgment-files.ts";

let bytes = 0;
let asked: readonly string[] = [];
let host: TestHost;

beforeAll(async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  const annotationBytes = async (_: string, ids: readonly string[]) => {
    asked = ids;
    return bytes;
  };
  host = await testHost({ store: { ...store, annotationBytes } });
});
afterAll(() => host.close());

test("short lines that name more than the host takes of what is there are refused", async () => {
  const line = foreignLine({ supersedes: "ann-01000000000000000000009999" });
  const send = () => host.ask("POST", "/v1/host/assay/annotations:import", { json: { lines: [HEADER, line] } });
  bytes = 32_000_001;
  expect(expectError(await send(), "validation_error")["problem"]).toContain("import fewer lines at a time");
  expect(asked).toEqual([line.annotationId, "ann-01000000000000000000009999"]);
  bytes = 32_000_000;
  expect((await send()).json()).toMatchObject({ imported: 1 });
});
