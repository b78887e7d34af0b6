import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../src/testing/temp-dir.ts";
import * as processes from "./assay.ts";
import { assay, serve, start } from "./in-process.ts";

describe("a command in the process of the test", () => {
  test.each([
    ["the version", 0, ["--version"]],
    ["a file that is not valid", 1, ["tape", "show", "notes.tape"]],
    ["a mistake as JSON", 2, ["run", "show", "--json"]],
    ["a mistake, with controls in it", 2, ["\u001b]0;owned\u0007"]],
    ["a server that is not there", 4, ["whoami", "--url", "http://127.0.0.1:9"]],
  ])("ends and prints as a process of its own does: %s", async (_, code, args) => {
    const cwd = tempDir();
    writeFileSync(join(cwd, "notes.tape"), "{\n");
    const ended = await assay(args, { cwd });
    expect(ended.code).toBe(code);
    expect(ended).toEqual(await processes.assay(args, { cwd }));
  });

  test("finds files and settings in its working folder, and leaves that of the test as it was", async () => {
    const before = process.cwd();
    const cwd = tempDir();
    writeFileSync(join(cwd, "assay.config.json"), '{"url":"http://127.0.0.1:9/here"}');
    const { code, stderr } = await assay(["whoami"], { cwd });
    expect([code, stderr]).toEqual([4, expect.stringContaining("http://127.0.0.1:9/here")]);
    expect(process.cwd()).toBe(before);
  });

  test("does not see settings in the environment of the test", async () => {
    process.env["ASSAY_URL"] = "http://127.0.0.1:9/there";
    try {
      expect((await assay(["whoami"])).stderr).not.toContain("there");
    } finally {
      delete process.env["ASSAY_URL"];
    }
  });

  test("that serves leaves the signals and failures of the process alone, and logs to its own stderr", async () => {
    const listeners = () =>
      ["SIGINT", "SIGTERM", "uncaughtException", "unhandledRejection"].map((one) => process.listenerCount(one));
    const before = listeners();
    const server = await serve(["--data", tempDir()]);
    expect(listeners()).toEqual(before);
    expect(await server.stop()).toBe(0);
    expect(server.stderr()).toContain('"msg":"stopped"');
  });

  test("that follows a stream ends when its reader goes away", async () => {
    const server = await serve(["--data", tempDir()]);
    const env = { ASSAY_URL: server.url, ASSAY_KEY: server.ownerKey ?? "" };
    expect(await start(["inbox", "--watch"], { env }).stop()).toBe(0);
    await server.stop();
  });
});
