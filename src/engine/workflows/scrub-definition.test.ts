import { describe, expect, test } from "vitest";
import { scrubber } from "../../formats/secrets/scrub.ts";
import { MASK } from "../../protocol/events.ts";
import { scrubDefinition } from "./scrub-definition.ts";

const scrub = (definition: unknown) => scrubDefinition(scrubber(), definition);

describe("a workflow definition", () => {
  test.each(["config", "settings"])(
    "loses a value under a secret name in %s of a node, also further down",
    (member) => {
      const node = (password: string) => ({ nodes: [{ id: "a", [member]: { db: [{ password, host: "db.local" }] } }] });
      expect(scrub(node("tuesday-morning"))).toEqual({ definition: node(MASK), scrubbed: 1 });
    },
  );

  test.each(["metadata", "triggers"])("loses a value under a secret name in its %s", (member) => {
    const definition = (token: string) => ({ [member]: [{ config: { api_token: token, name: "nightly" } }] });
    expect(scrub(definition("tuesday-morning"))).toEqual({ definition: definition(MASK), scrubbed: 1 });
  });

  test.each([
    [
      "in a mapping",
      {
        nodes: [
          { config: { inputMapping: { token: "sessionToken" }, workers: [{ outputMapping: { password: "typed" } }] } },
        ],
      },
    ],
    ["elsewhere", { nodes: [{ outputSensitivity: { token: true } }], edges: [{ from: { token: "sessionToken" } }] }],
    ["that is a schema", { nodes: [{ config: { schema: { properties: { password: { type: "string" } } } } }] }],
  ])("keeps the name of a variable under a secret name %s", (_, definition) => {
    expect(scrub(definition)).toEqual({ definition, scrubbed: 0 });
  });

  test.each([
    "password=tuesday-morning",
    "https://vault.local/x?access_token=tuesday-morning",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
  ])("is refused with the credential %s for a reference", (credentialsRef) => {
    expect(() => scrub({ nodes: [{ id: "a", credentialsRef }] })).toThrow("looks like a credential");
  });

  test.each(["cred_ghp_abcdefghijklmnopqrstuvwxyz0123456789", "secret:deploy", "vault/team/password"])(
    "keeps the reference %s to a credential",
    (credentialsRef) => {
      const definition = { nodes: [{ id: "a", credentialsRef }] };
      expect(scrub(definition)).toEqual({ definition, scrubbed: 0 });
    },
  );
});
