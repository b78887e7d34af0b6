import { expect } from "vitest";
import type { ERRORS } from "../../../src/protocol/errors.ts";
import type { Attack } from "../attack.ts";
import { type Furniture, furnish } from "../furnish.ts";
import { exampleOf, isCredential, type Named, pathOf, SERVED } from "../operations.ts";
import { type Answer, KEYS, type Request, type Target } from "../target.ts";

const VIEWER_SCOPES = ["runs:read", "manifest:read", "reviews:read"];

const isProtected = ([, { access }]: Named) => access !== "public";
const needsScope = ([, { access }]: Named) => access !== "public" && access !== "authenticated";
const namesAThing = (named: Named) => named[1].path.includes("{") && !isCredential(named) && named[0] !== "getSchema";
/** Written in the caller's own tenant, whatever other tenants call theirs. */
const CREATED_AT_HOME = ["putSuite", "putPolicy", "keepBaselineFile"];

const LISTS = ["keys", "roles", "principals", "webhooks", "annotations", "queues", "suites", "promotion-policies"]
  .map((name) => `/v1/host/assay/${name}`)
  .concat("/v1/runs", "/v1/workflows", "/v1/host/assay/inbox");

/** One request per operation. Gives the operations that were not refused in this way. */
async function notRefused(
  target: Target,
  operations: readonly Named[],
  request: Request,
  expected: (answer: Answer, named: Named) => boolean,
): Promise<string[]> {
  const furniture = await furnish(target);
  const wrong: string[] = [];
  for (const named of operations) {
    const body = exampleOf(named);
    const answer = await target.ask(named[1].method, pathOf(named, furniture), {
      ...(body === undefined ? {} : { body }),
      ...request,
    });
    const leaks = Object.values(KEYS).some(({ key }) => answer.text.includes(key));
    if (leaks || !expected(answer, named)) wrong.push(`${named[0]}: ${answer.status} ${answer.text.slice(0, 200)}`);
  }
  return wrong;
}

const isError = (status: number, code: keyof typeof ERRORS) => (answer: Answer) =>
  answer.status === status && answer.json?.error === code;

/** All that tenant `acme` can list, without the members that time alone changes. */
async function contents(target: Target): Promise<string[]> {
  const lists = await Promise.all(LISTS.map((path) => target.ask("GET", path)));
  return lists.map(({ text }) => text.replaceAll(/,?"(lastUsedAt|ageSeconds)":("[^"]*"|\d+)/g, ""));
}

async function refusedEverywhere(target: Target, request: Request, status: number, code: keyof typeof ERRORS) {
  expect(await notRefused(target, SERVED.filter(isProtected), request, isError(status, code))).toEqual([]);
}

async function issueKey(target: Target, more: object): Promise<{ key: string; keyId: string }> {
  const answer = await target.ask("POST", "/v1/host/assay/keys", { body: { principal: "temp", ...more } });
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
  return { key: answer.json.key, keyId: answer.json.info.keyId };
}

async function unchanged(target: Target, attempt: (furniture: Furniture) => Promise<void>): Promise<void> {
  const furniture = await furnish(target);
  const before = await contents(target);
  await attempt(furniture);
  expect(await contents(target)).toEqual(before);
}

export const attacks: readonly Attack[] = [
  {
    title: "every operation refuses a request without a key, and changes nothing",
    attempt: (target) => unchanged(target, () => refusedEverywhere(target, { as: "nobody" }, 401, "unauthenticated")),
  },
  {
    title: "every operation refuses credentials that are close to a valid one",
    attempt: (target) =>
      unchanged(target, async () => {
        const { key } = KEYS.owner;
        for (const authorization of [`Bearer ${key}x`, `Bearer ${key.slice(0, -1)}`, `Basic ${btoa(`olga:${key}`)}`]) {
          await refusedEverywhere(target, { as: "nobody", headers: { authorization } }, 401, "unauthenticated");
        }
      }),
  },
  {
    title: "every operation refuses a key that was revoked",
    async attempt(target) {
      const { key, keyId } = await issueKey(target, { roles: ["owner"] });
      await target.ask("POST", `/v1/host/assay/keys/${keyId}:revoke`);
      await unchanged(target, () => refusedEverywhere(target, { key }, 401, "key_revoked"));
    },
  },
  {
    title: "every operation with a scope refuses a principal whose role grants nothing",
    async attempt(target) {
      await furnish(target);
      const { key } = await issueKey(target, { principal: "empty", roles: ["furniture"] });
      const scoped = SERVED.filter(needsScope);
      await unchanged(target, async () => {
        expect(await notRefused(target, scoped, { key }, isError(403, "forbidden"))).toEqual([]);
      });
    },
  },
  {
    title: "every operation beyond a viewer's scopes refuses a viewer",
    attempt: (target) =>
      unchanged(target, async () => {
        const beyond = SERVED.filter((named) => needsScope(named) && !VIEWER_SCOPES.includes(named[1].access));
        expect(await notRefused(target, beyond, { as: "viewer" }, isError(403, "forbidden"))).toEqual([]);
      }),
  },
  {
    title: "every operation about a thing of another tenant answers as if it did not exist",
    attempt: (target) =>
      unchanged(target, async (furniture) => {
        const named = SERVED.filter((one) => namesAThing(one) && !CREATED_AT_HOME.includes(one[0]));
        const absent = (answer: Answer) => answer.status === 404 && !answer.text.includes(furniture["runId"] ?? "-");
        const unlessNamed = (answer: Answer, [, { path }]: Named) =>
          answer.status === 404 && (path.includes("{runId}") || absent(answer));
        expect(await notRefused(target, named, { as: "mallory" }, unlessNamed)).toEqual([]);
      }),
  },
  {
    title: "no list of another tenant holds anything of this one",
    async attempt(target) {
      const furniture = await furnish(target);
      const lists = SERVED.filter(([id, { method, path, success }]) => {
        return method === "GET" && !path.includes("{") && success.contentType === undefined && id !== "verifyAudit";
      });
      const ids = ["runId", "keyId", "webhookId", "annotationId", "queueId", "itemId"].map((name) => furniture[name]);
      for (const one of lists) {
        const { text } = await target.ask("GET", pathOf(one, furniture), { as: "mallory" });
        expect(
          ids.filter((id) => id !== undefined && text.includes(id)),
          one[0],
        ).toEqual([]);
      }
    },
  },
];
