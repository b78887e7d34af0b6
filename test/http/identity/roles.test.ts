import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectError, type TestHost, testHost } from "../../../src/testing/host.ts";

let host: TestHost;
beforeAll(async () => {
  host = await testHost();
});
afterAll(() => host.close());

const ROLES = "/v1/host/assay/roles";
const PRINCIPALS = "/v1/host/assay/principals";

describe("a role that is defined", () => {
  test("lets its holders in at once, and keeps them out as soon as it is removed", async () => {
    const asVic = () => host.ask("GET", "/v1/host/assay/audit/entries", { as: "viewer" });
    expectError(await asVic(), "forbidden");
    const json = { role: "auditor", scopes: ["audit:read"] };
    expect((await host.ask("POST", ROLES, { json })).json()).toEqual({ ...json, builtIn: false });
    await host.ask("POST", `${PRINCIPALS}/vic`, { json: { roles: ["viewer", "auditor"] } });
    expect(await asVic()).toMatchObject({ statusCode: 200 });
    const removed = await host.ask("DELETE", `${ROLES}/auditor`);
    expect(removed).toMatchObject({ statusCode: 204, payload: "" });
    expectError(await asVic(), "forbidden");
    expectError(await host.ask("DELETE", `${ROLES}/auditor`), "not_found");
  });

  test("is listed for the workspace that defines it, and a key of another cannot name that one", async () => {
    const json = { role: "east-lead", scopes: [] };
    await host.ask("POST", ROLES, { as: "east", json });
    const named = async (url: string, as: "owner" | "east" | "west") =>
      (await host.ask("GET", url, { as })).json().roles.map(({ role }: { role: string }) => role);
    expect(await named(ROLES, "east")).toContain("east-lead");
    expect(await named(`${ROLES}?workspace=east`, "owner")).toContain("east-lead");
    expect(await named(ROLES, "west")).not.toContain("east-lead");
    expectError(await host.ask("GET", `${ROLES}?workspace=east`, { as: "west" }), "validation_error");
    expectError(await host.ask("DELETE", `${ROLES}/east-lead`, { as: "west" }), "not_found");
  });

  test.each([
    { role: "owner", scopes: [] },
    { role: "a/b", scopes: [] },
    { role: "", scopes: [] },
    { role: "__proto__", scopes: [] },
    { role: "lead", scopes: ["no:such"] },
    { role: "lead" },
    { role: "lead", scopes: [], more: 1 },
  ])("is refused as %j", async (json) => {
    expectError(await host.ask("POST", ROLES, { json }), "validation_error");
  });
});

describe("a principal whose groups are set", () => {
  test("has them in whoami, in the list of keys and in that of principals", async () => {
    const json = { groups: ["legal", "night"] };
    const set = await host.ask("POST", `${PRINCIPALS}/vic`, { json });
    expect(set.json()).toMatchObject({ principal: "vic", kind: "user", ...json });
    expect((await host.ask("GET", "/v1/host/assay/whoami", { as: "viewer" })).json()).toMatchObject(json);
    expect((await host.ask("GET", "/v1/host/assay/keys")).json().keys).toContainEqual(
      expect.objectContaining({ principal: "vic", ...json }),
    );
    expect((await host.ask("GET", PRINCIPALS)).json().principals).toContainEqual(set.json());
  });

  test("is changed once under an idempotency key", async () => {
    const headers = { "idempotency-key": "set-vic" };
    const ask = () => host.ask("POST", `${PRINCIPALS}/vic`, { json: { groups: ["once"] }, headers });
    const first = await ask();
    await host.ask("POST", `${PRINCIPALS}/vic`, { json: { groups: ["later"] } });
    expect((await ask()).payload).toBe(first.payload);
    expect((await host.store.membershipOf({ tenant: "t1" }, "vic")).groups).toEqual(["later"]);
  });

  test("is refused what it cannot have, and those who are not there", async () => {
    const set = (principal: string, json: unknown) => host.ask("POST", `${PRINCIPALS}/${principal}`, { json });
    expectError(await set("vic", {}), "validation_error");
    expectError(await set("vic", { groups: ["with space"] }), "validation_error");
    expectError(await set("nobody", { groups: [] }), "not_found");
    expectError(await set("ada", { roles: ["viewer"] }), "forbidden");
  });
});
