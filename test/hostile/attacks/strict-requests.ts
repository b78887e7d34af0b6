import { expect } from "vitest";
import { rawHttp } from "../../../src/testing/raw-http.ts";
import type { Attack } from "../attack.ts";
import { KEYS } from "../target.ts";

const KEY_ROUTE = "/v1/host/assay/keys";

export const attacks: readonly Attack[] = [
  {
    title: "a second Authorization, Host or Content-Type is refused among any number of header lines",
    async attempt(target) {
      for (const lines of [1, 450, 1100, 1600, 2500]) {
        for (const second of [
          `Authorization: Bearer ${KEYS.viewer.key}`,
          "Host: elsewhere",
          "content-type: text/plain",
        ]) {
          const known = ["Host: h", `Authorization: Bearer ${KEYS.owner.key}`, "Content-Type: application/json"];
          const head = ["GET /v1/host/assay/whoami HTTP/1.1", ...known];
          const all = [...head, ...Array.from({ length: lines }, () => "a:"), second, "Connection: close"];
          const { status } = await rawHttp(target.url, (socket) => void socket.write(`${all.join("\r\n")}\r\n\r\n`));
          expect(status, `${lines} lines, then ${second}`).toBe(400);
        }
      }
    },
  },
  {
    title: "a member that a body has twice is refused, in any spelling",
    async attempt(target) {
      for (const member of ["roles", "\\u0072oles", "r\\u006fles"]) {
        const body = `{"principal":"twice","roles":["viewer"],"${member}":["owner"]}`;
        const { status, json } = await target.ask("POST", KEY_ROUTE, { body });
        expect([status, json.error, json.message]).toEqual([
          400,
          "validation_error",
          expect.stringMatching(/"roles" twice/),
        ]);
      }
    },
  },
  {
    title: "no key is made in a name of the host's own",
    async attempt(target) {
      for (const principal of ["host", "System", "token", "assay:sweep"]) {
        const { status, json } = await target.ask("POST", KEY_ROUTE, { body: { principal } });
        expect([status, json.error]).toEqual([400, "validation_error"]);
      }
    },
  },
  {
    title: "a request for a key that is repeated makes one key, and only its caller gets it again",
    async attempt(target) {
      const headers = { "idempotency-key": "hostile-1" };
      const body = { principal: "once", roles: ["viewer"] };
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => target.ask("POST", KEY_ROUTE, { body, headers })),
      );
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      const other = await target.ask("POST", KEY_ROUTE, { as: "admin", body, headers });
      expect([other.status, other.json.error]).toEqual([409, "idempotency_key_mismatch"]);
      const { json } = await target.ask("GET", KEY_ROUTE);
      expect(json.keys.filter(({ principal }: { principal: string }) => principal === "once")).toHaveLength(1);
    },
  },
  {
    title: "an owner who changes a principal called mole:confirm does not confirm the one called mole",
    async attempt(target) {
      for (const principal of ["mole", "mole:confirm"]) {
        expect((await target.ask("POST", KEY_ROUTE, { as: "admin", body: { principal } })).status).toBe(201);
      }
      const path = `/v1/host/assay/principals/${encodeURIComponent("mole:confirm")}`;
      const { status } = await target.ask("POST", path, { body: { roles: ["viewer"] } });
      const { json } = await target.ask("GET", "/v1/host/assay/principals");
      const mole = json.principals.find(({ principal }: { principal: string }) => principal === "mole");
      expect([status, mole.madeBy]).toEqual([404, ["adam"]]);
    },
  },
  {
    title: "a role of the tenant is neither removed nor audited as removed with a key of a workspace",
    async attempt(target) {
      const role = { role: "wide", scopes: ["runs:read"] };
      expect((await target.ask("POST", "/v1/host/assay/roles", { body: role })).status).toBe(200);
      const made = { principal: "wendy", roles: ["admin"], workspace: "east" };
      const { key } = (await target.ask("POST", KEY_ROUTE, { body: made })).json;
      expect((await target.ask("DELETE", "/v1/host/assay/roles/wide", { key })).status).toBe(404);
      const { json } = await target.ask("GET", "/v1/host/assay/audit/entries?limit=1000");
      const removed = json.entries.filter(({ action }: { action: string }) => action === "role.removed");
      expect(removed).toEqual([]);
    },
  },
];
