import { describe, expect, test } from "vitest";
import { decideScope, roleContains, SCOPES } from "./scopes.ts";

const key = (keyScopes: string[], roles: string[]) => ({ keyScopes, roles });

describe("a scope", () => {
  test("is granted when both the key and a role of the principal grant it", () => {
    expect(decideScope(key(["runs:read"], ["viewer"]), "runs:read")).toEqual({ allowed: true });
    expect(decideScope(key(["*"], ["owner"]), "keys:manage")).toEqual({ allowed: true });
  });

  test("is refused when the key does not reach that far, whatever the role", () => {
    expect(decideScope(key(["runs:read"], ["owner"]), "runs:create")).toEqual({
      allowed: false,
      missingFrom: "the key",
    });
  });

  test("is refused when no role grants it, whatever the key", () => {
    expect(decideScope(key(["*"], ["viewer"]), "runs:create")).toEqual({ allowed: false, missingFrom: "the role" });
  });

  test.each([[[]], [["unheard-of"]], [["constructor"]], [["__proto__"]], [["toString"]]])(
    "is refused for roles %j: what cannot be resolved grants nothing",
    (roles) => {
      for (const scope of SCOPES) expect(decideScope(key(["*"], roles), scope).allowed).toBe(false);
    },
  );

  test("to relay votes is given by name, in key and role: neither every scope nor an owner has it", () => {
    const roles = { owner: ["*"], relayer: ["approvals:relay"] };
    expect(decideScope(key(["*"], ["owner", "relayer"]), "approvals:relay", roles).allowed).toBe(false);
    expect(decideScope(key(["*", "approvals:relay"], ["owner"]), "approvals:relay", roles).allowed).toBe(false);
    expect(decideScope(key(["approvals:relay"], ["relayer"]), "approvals:relay", roles).allowed).toBe(true);
  });

  test("implies no other: cancelling is not reading", () => {
    const roles = { canceller: ["runs:cancel"] };
    expect(decideScope(key(["*"], ["canceller"]), "runs:cancel", roles).allowed).toBe(true);
    expect(decideScope(key(["*"], ["canceller"]), "runs:read", roles).allowed).toBe(false);
  });
});

describe("a role", () => {
  test.each([
    ["owner", "viewer", true],
    ["admin", "reviewer", true],
    ["reviewer", "reviewer", true],
    ["viewer", "reviewer", false],
    ["auditor", "viewer", false],
    ["owner", "auditor", false],
    ["auditor", "auditor", true],
  ])("%s contains %s: %s", (held, required, contains) => {
    expect(roleContains(held, required)).toBe(contains);
  });
});
