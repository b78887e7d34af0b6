import { describe, expect, test } from "vitest";
import { scrubber } from "../../formats/secrets/scrub.ts";
import { MASK } from "../../protocol/events.ts";
import { scrubDefinition } from "./scrub-definition.ts";

const scrub = (definition: unknown) => scrubDefinition(scrubber(), definition);

describe("a workflow definition", () => {
  test.each(["config", "settings"])(
    "loses a value under a secret name in %s of a node, also further down",
    async (member) => {
      const node = (password: string) => ({ nodes: [{ id: "a", [member]: { db: [{ password, host: "db.local" }] } }] });
      expect(await scrub(node("tuesday-morning"))).toEqual({ definition: node(MASK), scrubbed: 1 });
    },
  );

  test.each(["metadata", "triggers"])("loses a value under a secret name in its %s", async (member) => {
    const definition = (token: string) => ({ [member]: [{ config: { api_token: token, name: "nightly" } }] });
    expect(await scrub(definition("tuesday-morning"))).toEqual({ definition: definition(MASK), scrubbed: 1 });
  });

  const PLACES: Readonly<Record<string, (content: object) => object>> = {
    "config of a node": (content) => ({ nodes: [{ id: "a", config: { deep: content } }] }),
    "the artifact of a gate": (content) => ({ nodes: [{ id: "a", config: { artifactData: content } }] }),
    settings: (content) => ({ settings: { timeout: 0, ...content } }),
    metadata: (content) => ({ metadata: content }),
    "a trigger": (content) => ({ triggers: [{ id: "hook", config: content }] }),
    "the schema of its options": (content) => ({ configurableSchema: { type: "object", ...content } }),
  };
  const SHAPES: Readonly<Record<string, (value: string) => object>> = {
    "a list under a secret name": (value) => ({ passwords: [value] }),
    "a list under the name of a header": (value) => ({ headers: { "X-Api-Key": [value], Accept: ["text/html"] } }),
    "a value beside its name": (value) => ({ env: [{ name: "DB_PASSWORD", value }] }),
    "a default of a secret name": (value) => ({ properties: { apiKey: { type: "string", default: value } } }),
    "the argument of an option": (value) => ({ args: ["--password", value, "--verbose"] }),
  };
  describe.each(Object.entries(PLACES))("in %s", (_, place) => {
    test.each(Object.entries(SHAPES))("loses %s", async (_, shape) => {
      const written = place(shape("tuesday-morning"));
      expect(await scrub(written)).toEqual({ definition: place(shape(MASK)), scrubbed: 1 });
    });
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
    [
      "that other members of a schema depend on",
      { configurableSchema: { required: ["token"], dependentRequired: { token: ["accountName"] } } },
    ],
    ["in lists of a mapping", { nodes: [{ config: { inputMapping: { token: ["sessionToken", "otherToken"] } } }] }],
    ["that is asked for", { variables: [{ name: "token", type: "string" }], edges: [{ name: "token", value: "a" }] }],
    ["of a port", { nodes: [{ inputs: { token: { type: "variable", variableName: "sessionToken" } } }] }],
    ["of an expression", { nodes: [{ inputs: { token: { type: "expression", expression: "variables.session" } } }] }],
    [
      "whose default is declared sensitive",
      { variables: [{ name: "token", sensitive: true, defaultValue: "tuesday-morning" }] },
    ],
  ])("keeps the name of a variable under a secret name %s", async (_, definition) => {
    expect(await scrub(definition)).toEqual({ definition, scrubbed: 0 });
  });

  test.each([
    "password=tuesday-morning",
    "https://vault.local/x?access_token=tuesday-morning",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
  ])("is refused with the credential %s for a reference", async (credentialsRef) => {
    await expect(scrub({ nodes: [{ id: "a", credentialsRef }] })).rejects.toThrow("looks like a credential");
  });

  test.each(["cred_ghp_abcdefghijklmnopqrstuvwxyz0123456789", "secret:deploy", "vault/team/password"])(
    "keeps the reference %s to a credential",
    async (credentialsRef) => {
      const definition = { nodes: [{ id: "a", credentialsRef }] };
      expect(await scrub(definition)).toEqual({ definition, scrubbed: 0 });
    },
  );
});
