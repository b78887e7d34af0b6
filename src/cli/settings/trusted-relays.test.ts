import { expect, test } from "vitest";
import { parseTrustedRelays } from "./trusted-relays.ts";

test("trusted relays are named with their tenant", () => {
  expect(parseTrustedRelays("")).toEqual([]);
  expect(parseTrustedRelays("acme/bridge, other/desk")).toEqual([
    { tenant: "acme", principal: "bridge" },
    { tenant: "other", principal: "desk" },
  ]);
});

test.each(["bridge", "acme/", "/bridge", "a/b/c"])(
  "a trusted relay written as %s is refused: it could be another's",
  (entry) => {
    expect(() => parseTrustedRelays(entry)).toThrow("TENANT/PRINCIPAL");
  },
);
