import { expect, test } from "vitest";
import type { DocumentId } from "../../store/port/documents.ts";
import { HOST_WIDE } from "../../store/port/store.ts";
import { pinnedSuite } from "./gate-evidence.ts";

/** A store that has the pins of one definition, for these tenants. */
const storeOf = (pins: Readonly<Record<string, object>>) => ({
  readDocument: async ({ tenant, kind, key }: DocumentId) => {
    const found = kind === "gate-suites" && key === "h1" ? pins[tenant] : undefined;
    return found && { tenant, kind, key, revision: 1, atMs: 1, body: JSON.stringify(found) };
  },
});
const run = { owner: { tenant: "t1" }, workflowHash: "h1" };

test("a gate of a workflow of the host has the pin of the host", async () => {
  expect(await pinnedSuite(storeOf({ [HOST_WIDE]: { gate: "wide" } }), run, "gate")).toBe("wide");
});

test("a gate of a workflow of the tenant has the pin of the tenant, and that of no other", async () => {
  const store = storeOf({ [HOST_WIDE]: { gate: "wide" }, t1: { gate: "own" }, t2: { gate: "other" } });
  expect(await pinnedSuite(store, run, "gate")).toBe("own");
  expect(await pinnedSuite(storeOf({ t2: { gate: "other" } }), run, "gate")).toBeUndefined();
  expect(await pinnedSuite(store, run, "constructor")).toBeUndefined();
});
