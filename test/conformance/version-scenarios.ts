import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { type Answer, type OutsideHost, refusal } from "./host.ts";

const SERVED = "1.1";
const OTHERS = ["2", "2.0", "2.7", "9.0", "0.9", "0"];

/** Which version of the protocol is spoken. */
export function versionScenarios(host: () => OutsideHost): void {
  const ask = (version: string, path: string, method = "GET") =>
    host().ask(method, path, { headers: { "openwop-version": version } });
  const versionOf = ({ headers }: Answer) => headers.get("openwop-version");

  describe("the version of the protocol", () => {
    test.each(["1", "1.0", "1.1", "1.9"])("%s is served at discovery and under /v1/", async (version) => {
      const discovery = await ask(version, "/.well-known/openwop");
      expect([discovery.status, versionOf(discovery)]).toEqual([200, SERVED]);
      expect(discovery.json.protocolVersions).toContain(versionOf(discovery));
      expect((await ask(version, "/v1/runs")).status).toBe(200);
    });

    test.each(OTHERS)("%s is refused by discovery, with the list of those served", async (version) => {
      const { protocolVersions } = (await host().ask("GET", "/.well-known/openwop", { key: "" })).json;
      for (const path of ["/.well-known/openwop", "/runs", "/openapi.json", "/runs/run-x/events"]) {
        const answer = await ask(version, path);
        expect(refusal(answer)).toEqual([406, "protocol_version_unsupported"]);
        expect(answer.json.details.protocolVersions).toEqual(protocolVersions);
        expect(answer.json.message).toContain(SERVED);
        expect(versionOf(answer)).toBe(SERVED);
        expect(answer.headers.get("cache-control")).toBe("no-store");
      }
    });

    test.each(OTHERS)("%s does not match paths under /v1/, with a key or without", async (version) => {
      for (const path of ["/v1/runs", "/v1/runs/run-x", "/v1/openapi.json", "/v1/nothing-here", "/v1"]) {
        const answer = await ask(version, path);
        expect(refusal(answer)).toEqual([400, "protocol_version_mismatch"]);
        expect(versionOf(answer)).toBe(SERVED);
      }
      const headers = { "openwop-version": version };
      const keyless = await host().ask("POST", "/v1/runs", { key: "", body: { workflowId: "noop" }, headers });
      expect(refusal(keyless)).toEqual([400, "protocol_version_mismatch"]);
    });

    test.each(["", "v1", "1.1.0", "01.1", "one", "1.1, 1.1", "-1"])("%j is no version", async (version) => {
      for (const path of ["/.well-known/openwop", "/runs", "/v1/runs"]) {
        expect(refusal(await ask(version, path))).toEqual([400, "validation_error"]);
      }
    });

    test.each(["", "1.1", "2", "9.0", "one"])(
      "%j finds nothing under /v2/, which is no part of any version",
      async (version) => {
        for (const path of ["/v2", "/v2/runs", "/v2/runs/run-x/events"]) {
          const answer = await (version === "" ? host().ask("GET", path) : ask(version, path));
          expect(refusal(answer)).toEqual([404, "not_found"]);
          expect(versionOf(answer)).toBe(SERVED);
        }
      },
    );

    test("is asked of protocol paths only: health and the console answer as ever", async () => {
      for (const path of ["/healthz", "/readyz", "/console/"]) expect((await ask("2.0", path)).status).toBe(200);
    });

    test("is part of what caches tell discovery documents apart by", async () => {
      const { headers } = await host().ask("GET", "/.well-known/openwop", { key: "" });
      expect(headers.get("vary")?.toLowerCase()).toBe("openwop-version");
      const unchanged = await host().ask("GET", "/.well-known/openwop", {
        headers: { "if-none-match": headers.get("etag") ?? "" },
      });
      expect([unchanged.status, versionOf(unchanged)]).toEqual([304, SERVED]);
    });

    test("is named by every answer of the protocol", async () => {
      const runId = await host().begin("noop");
      await host().ends(runId);
      const webhook = { url: "https://hooks.example.com/x", events: ["run.completed"] };
      const { webhookId } = (await host().ask("POST", "/v1/webhooks", { body: webhook })).json;
      const answers: [number, Promise<Answer>][] = [
        [201, host().ask("POST", "/v1/runs", { body: { workflowId: "noop" } })],
        [204, host().ask("DELETE", `/v1/webhooks/${webhookId}`)],
        [200, host().ask("HEAD", "/v1/runs")],
        [200, host().ask("HEAD", `/v1/runs/${runId}/events`)],
        [200, host().ask("GET", `/v1/runs/${runId}/events`, { headers: { accept: "text/event-stream" } })],
        [200, host().ask("GET", `/v1/runs/${runId}/events`, { headers: { accept: "application/json" } })],
        [200, host().ask("GET", `/v1/runs/${runId}/events/poll`)],
        [200, host().ask("GET", "/v1/host/assay/annotations:export")],
        [200, host().ask("GET", "/healthz", { key: "" })],
        [400, host().ask("POST", "/v1/runs", { body: "{" })],
        [400, host().ask("GET", "/v1/runs/%zz")],
        [400, host().ask("GET", "/runs")],
        [401, host().ask("GET", "/v1/runs", { key: "" })],
        [404, host().ask("GET", "/v1/nothing-here")],
        [404, host().ask("GET", "/v1/runs/run-x")],
        [405, host().ask("DELETE", "/v1/runs")],
        [405, host().ask("OPTIONS", "/v1/runs")],
      ];
      for (const [status, answer] of answers) {
        expect([status, versionOf(await answer)]).toEqual([(await answer).status, SERVED]);
      }
    });

    test("is named also where there was no request to answer", async () => {
      const text = await said(host().url, "this is not HTTP\r\n\r\n");
      expect(text).toMatch(/^HTTP\/1\.1 400 /);
      expect(text).toMatch(new RegExp(`^openwop-version: ${SERVED}\r$`, "im"));
    });

    test("is not claimed by the pages of the console", async () => {
      expect(versionOf(await host().ask("GET", "/console/", { key: "" }))).toBeNull();
    });
  });
}

function said(url: string, request: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(Number(port), hostname, () => socket.write(request));
    socket.setEncoding("utf8").on("data", (some) => (text += some));
    socket.on("end", () => resolve(text)).on("error", reject);
  });
}
