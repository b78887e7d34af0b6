import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Caller } from "../protocol/identity/identity.ts";
import { connect } from "../sdk/connect.ts";
import { ConnectionError } from "../sdk/errors.ts";
import { KEYS, type TestHost, testHost } from "../testing/host.ts";
import { inProcessFetch, type Rooms } from "./in-process.ts";
import { IDENTITY_ROOMS } from "./in-process-rooms.ts";

let host: TestHost;
let remote: ReturnType<typeof connect>;
let here: ReturnType<typeof connect>;

const ADA: Caller = {
  tenant: "t1",
  principal: "ada",
  kind: "user",
  keyId: "none",
  roles: ["owner"],
  groups: [],
  keyScopes: ["*"],
};

function clientOn(rooms: Rooms<TestHost["host"]>) {
  return connect({ url: "http://here", retries: 0, fetch: inProcessFetch({ host: host.host, caller: ADA, rooms }) });
}

beforeAll(async () => {
  host = await testHost();
  remote = connect({ url: await host.listen(), key: KEYS.owner.key, retries: 0 });
  here = clientOn(IDENTITY_ROOMS);
});
afterAll(() => host.close());

function failure(asked: PromiseLike<unknown>): Promise<unknown> {
  return Promise.resolve(asked).catch((error) => {
    const { name, code, message, details, status } = error;
    return { name, code, message, details, status };
  });
}

describe("a client in the process of its host", () => {
  test("gets the answers that a server gives", async () => {
    const role = await here.identity.defineRole({ role: "auditor", scopes: ["runs:read"] });
    expect(role).toMatchObject({ role: "auditor", scopes: ["runs:read"] });
    expect(await here.identity.roles()).toEqual(await remote.identity.roles());
    expect(await here.identity.keys()).toEqual(await remote.identity.keys());
    const { data, response } = await here.identity.createKey({ principal: "vera", roles: ["auditor"] }).withResponse();
    expect([response.status, data.info.principal]).toEqual([201, "vera"]);
    expect(await here.identity.removeRole("auditor")).toBeUndefined();
  });

  test("gets the refusals that a server gives: of bodies, of queries, of what is not there", async () => {
    for (const identity of [here.identity, remote.identity]) {
      expect(await failure(identity.createKey({ principal: "" }))).toMatchObject({
        code: "validation_error",
        status: 400,
      });
    }
    const unknown = JSON.parse('{ "principal": "a", "odd": 1 }');
    expect(await failure(here.identity.createKey(unknown))).toEqual(await failure(remote.identity.createKey(unknown)));
    expect(await failure(here.identity.revokeKey("key-none"))).toEqual(
      await failure(remote.identity.revokeKey("key-none")),
    );
    const odd = JSON.parse('{ "odd": "1" }');
    expect(await failure(here.identity.roles(odd))).toEqual(await failure(remote.identity.roles(odd)));
  });

  test("reads answers that are too long to be made at once", async () => {
    const handler = async () => async (context: Parameters<Exclude<Handler, undefined>>[0]) =>
      context.stream({ contentType: "application/json", pieces: pieces() });
    const long = clientOn({ identity: { handler } });
    expect((await long.identity.keys()).keys).toHaveLength(3);
  });

  test("is told of a fault as it is, and not as a refusal", async () => {
    const fault = new Error("a mistake in the code");
    const broken = clientOn({
      identity: {
        handler: async () => () => {
          throw fault;
        },
      },
    });
    const error = await Promise.resolve(broken.identity.whoAmI()).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.cause).toBe(fault);
    const nowhere = await Promise.resolve(here.audit.verify({ fromSeq: 0, toSeq: 1 })).catch((thrown) => thrown);
    expect(nowhere.message).toContain("nothing answers GET /v1/audit/verify");
  });
});

type Handler = Awaited<ReturnType<NonNullable<(typeof IDENTITY_ROOMS)["identity"]>["handler"]>>;

async function* pieces(): AsyncGenerator<string> {
  yield '{"keys":[{},';
  yield "{},{}]}";
}
