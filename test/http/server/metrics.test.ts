import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RouteStats, renderMetrics } from "../../../src/http/routes/metrics.ts";
import { expectError, type TestHost, testHost } from "../../../src/testing/host.ts";

let host: TestHost;
beforeAll(async () => {
  const samples = () => [{ name: "assay_worker_runs", help: "Runs in hand.", type: "gauge", value: 3 }] as const;
  host = await testHost({ deps: { samples } });
});
afterAll(() => host.close());

const LINE = /^[a-z_]+(?:\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})? (?:[0-9.e+-]+)$/;

describe("the metrics", () => {
  test("are Prometheus text, every line of them", async () => {
    const runId = await host.newRun();
    await host.ask("GET", `/v1/runs/${runId}`);
    await host.ask("GET", "/v1/runs/none");
    await host.ask("GET", "/v1/nothing");
    const response = await host.ask("GET", "/v1/host/assay/metrics");
    expect(response.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
    const lines = response.payload.trimEnd().split("\n");
    expect(lines.filter((line) => !line.startsWith("# ") && !LINE.test(line))).toEqual([]);
    expect(lines).toContain('assay_http_requests_total{method="GET",route="/v1/runs/{runId}",status="200"} 1');
    expect(lines).toContain('assay_http_requests_total{method="GET",route="/v1/runs/{runId}",status="404"} 1');
    expect(lines).toContain('assay_http_requests_total{method="*",route="unmatched",status="404"} 1');
    expect(lines).toContain('assay_runs{status="pending"} 1');
    expect(lines).toContain("assay_worker_runs 3");
    expect(lines).toContain("assay_event_streams_open 0");
    expect(response.payload).toMatch(/^process_resident_memory_bytes \d+$/m);
    expect(response.payload).not.toContain(runId);
  });

  test("are not for everybody", async () => {
    expectError(await host.ask("GET", "/v1/host/assay/metrics", { as: "viewer" }), "forbidden");
  });
});

describe("a histogram", () => {
  test("counts what is below each bound", () => {
    const stats = new RouteStats("GET", "/x");
    for (const seconds of [0.0004, 0.004, 0.004, 99]) stats.observe(200, seconds);
    const text = renderMetrics([stats], []);
    const bucket = (le: string) =>
      Number(new RegExp(`_bucket\\{method="GET",route="/x",le="${le}"\\} (\\d+)`).exec(text)?.[1]);
    expect([bucket("0.001"), bucket("0.0025"), bucket("0.005"), bucket("10"), bucket("\\+Inf")]).toEqual([
      1, 1, 3, 3, 4,
    ]);
    expect(text).toContain('_count{method="GET",route="/x"} 4');
  });

  test("of a label with odd characters stays one line", () => {
    const text = renderMetrics([], [{ name: "x", help: "a\nb", type: "gauge", value: 1, labels: { l: 'q"\\\n' } }]);
    expect(text).toContain('x{l="q\\"\\\\\\n"} 1');
  });
});
