import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { expect, test } from "vitest";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { defaultConfig } from "../settings/config.ts";
import { buildHost, ownTokenSecret } from "./build-host.ts";
import { cleanLine } from "./log.ts";
import { processScrubber } from "./process-scrubber.ts";

function file(name: string, content: string): string {
  const path = join(tempDir(), name);
  writeFileSync(path, content);
  return path;
}

test("the secrets that a process was given are taken out, however they got into a text", async () => {
  const pemLine = "MC4CAQAwBQYDK2VwBCIEIAaaBBccDDeeFFggHHiiJJkkLLmmNNooPPqqRRssTTuu";
  const config = {
    ...defaultConfig(),
    databaseUrl: "postgres://assay:p%40ssword-of-db@db.example/assay",
    tokenKeys: "2027:a-secret-for-tokens-that-is-long-enough",
    key: "the key of a client",
    otlpHeaders: "authorization=Basic%20of-the-receiver",
    keys: file("keys.json", JSON.stringify([{ key: "seeded-key-0123456789", tenant: "t", principal: "p", roles: [] }])),
    auditKey: file("audit.pem", `-----BEGIN PRIVATE KEY-----\n${pemLine}\n-----END PRIVATE KEY-----\n`),
  };
  const scrubber = await processScrubber(config, { ASSAY_REVIEW_MODEL_KEY: "the key of a model" });
  for (const secret of [
    "p%40ssword-of-db",
    "p@ssword-of-db",
    "a-secret-for-tokens-that-is-long-enough",
    "the key of a client",
    "the key of a model",
    "Basic of-the-receiver",
    "seeded-key-0123456789",
    pemLine,
  ]) {
    expect(scrubber.scrubText(`before ${secret} after`), secret).toBe("before [REDACTED] after");
  }
});

test("files that cannot be read are nobody's secret, and those who need them complain", async () => {
  const config = { ...defaultConfig(), keys: "/nowhere/keys.json", auditKey: "/nowhere/key.pem" };
  expect((await processScrubber(config)).scrubText("as it is")).toBe("as it is");
});

test("a host knows what its tokens are signed with", async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  const { scrubber } = await buildHost(store, defaultConfig());
  expect(scrubber.scrubText(`signed with ${await ownTokenSecret(store)}`)).toBe("signed with [REDACTED]");
  await store.close();
});

test("a log line is cleaned and stays a line of JSON", async () => {
  const scrubber = await processScrubber(defaultConfig());
  const lines: string[] = [];
  const hooks = { streamWrite: (line: string) => cleanLine(line, scrubber) };
  const log = pino({ base: null, timestamp: false, hooks }, { write: (line: string) => void lines.push(line) });
  log.info({ path: "/v1/runs/run-1" }, "request");
  log.error({ err: new Error("-----BEGIN PRIVATE KEY-----\nMIIE") }, "with sk-canary-rfc0056-do-not-leak-abc123");
  expect(lines[0]).toBe('{"level":30,"path":"/v1/runs/run-1","msg":"request"}\n');
  expect(lines[1]?.endsWith("}\n")).toBe(true);
  expect(JSON.parse(lines[1] ?? "")).toMatchObject({ err: { message: "[REDACTED]" }, msg: "with [REDACTED]" });
});
