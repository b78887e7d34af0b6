import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { tempDir } from "../../../src/testing/temp-dir.ts";

let host: TestHost;
beforeAll(async () => {
  const root = tempDir();
  const consoleDir = join(root, "console");
  mkdirSync(join(consoleDir, "assets"), { recursive: true });
  writeFileSync(join(root, "secret.txt"), "secret");
  writeFileSync(join(consoleDir, "index.html"), "<!doctype html>");
  writeFileSync(join(consoleDir, "icon.svg"), "<svg/>");
  writeFileSync(join(consoleDir, "assets", "index-Bx81hash.js"), "export {};");
  host = await testHost({ deps: { consoleDir } });
});
afterAll(() => host.close());

const get = (url: string, headers = {}) => host.app.inject({ method: "GET", url, headers });

describe("the console", () => {
  test.each(["/", "/console"])("is where %s leads", async (url) => {
    const response = await get(url);
    expect(response.statusCode).toBe(302);
    expect(response.headers["location"]).toBe("/console/");
  });

  test.each(["/console/", "/console/index.html", "/console/runs/run-1", "/console/inbox?x=1"])(
    "shows its page at %s",
    async (url) => {
      const response = await get(url);
      expect(response.payload).toBe("<!doctype html>");
      expect(response.headers).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-cache",
      });
    },
  );

  test("lets no foreign code in and is framed by nobody", async () => {
    const { headers } = await get("/console/");
    expect(headers["content-security-policy"]).toContain("default-src 'none'");
    expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
    expect(headers["content-security-policy"]).not.toContain("unsafe");
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["referrer-policy"]).toBe("no-referrer");
  });

  test("has files that are kept for good when their name changes with them", async () => {
    const script = await get("/console/assets/index-Bx81hash.js");
    expect(script.headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
    });
    const icon = await get("/console/icon.svg");
    expect(icon.headers["cache-control"]).toBe("no-cache");
    const etag = String(icon.headers["etag"]);
    expect(await get("/console/icon.svg", { "if-none-match": etag })).toMatchObject({ statusCode: 304 });
  });

  test.each([
    "/console/missing.js",
    "/console/../secret.txt",
    "/console/..%2fsecret.txt",
    "/console/%2e%2e/secret.txt",
    "/console/..%5csecret.txt",
    "/console/assets/../../secret.txt",
    "/console//etc/passwd.txt",
    "/console/%00.txt",
  ])("has nothing at %s", async (url) => {
    const response = await get(url);
    expect(response.statusCode).toBeGreaterThanOrEqual(400);
    expect(response.payload).not.toContain("secret\n");
    expectError(response, response.json().error);
  });

  test("may be left out", async () => {
    const bare = await testHost();
    const front = await bare.app.inject({ method: "GET", url: "/" });
    expect(front.json()).toMatchObject({ name: "assay", discovery: "/.well-known/openwop" });
    expectError(await bare.app.inject({ method: "GET", url: "/console/" }), "not_found");
    await bare.close();
  });
});
