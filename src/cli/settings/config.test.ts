import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { CAPABILITIES } from "../../protocol/operation.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { main } from "../main.ts";
import { type ConfigSources, coloursWanted, defaultConfig, loadConfig, unknownVariables } from "./config.ts";
import { environmentNameOf, flagOf, SETTING_NAMES, SETTINGS } from "./settings.ts";

let cwd: string;
beforeEach(() => {
  cwd = tempDir();
});

function load(sources: Partial<ConfigSources> = {}) {
  return loadConfig({ flags: {}, env: {}, cwd, ...sources });
}

function configFile(content: unknown, name = "assay.config.json"): void {
  writeFileSync(join(cwd, name), typeof content === "string" ? content : JSON.stringify(content));
}

describe("the settings of a command", () => {
  test("are the defaults when nothing is set anywhere", () => {
    expect(load()).toMatchObject({
      port: 4100,
      host: "127.0.0.1",
      data: join(cwd, ".assay"),
      worker: true,
      disable: [],
    });
    expect(load()).toEqual(defaultConfig(cwd));
  });

  test("come from the file before the defaults, the environment before the file, and flags before all", () => {
    configFile({ port: 1001, host: "file", logLevel: "warn", rateLimit: 7 });
    const env = { ASSAY_PORT: "1002", ASSAY_HOST: "env", ASSAY_LOG_LEVEL: "debug" };
    const config = load({ env, flags: { port: "1003", host: "flag" } });
    expect(config).toMatchObject({ port: 1003, host: "flag", logLevel: "debug", rateLimit: 7, maxStreams: 4096 });
  });

  test("are frozen", () => {
    expect(Object.isFrozen(load())).toBe(true);
  });

  test("take a switch either way from anywhere", () => {
    configFile({ worker: false, strict: true });
    expect(load()).toMatchObject({ worker: false, strict: true });
    expect(load({ env: { ASSAY_WORKER: "1", ASSAY_STRICT: "false" } })).toMatchObject({ worker: true, strict: false });
    expect(load({ flags: { worker: true, strict: false } })).toMatchObject({ worker: true, strict: false });
  });

  test("take lists from JSON arrays, commas and repeated flags", () => {
    configFile({ workflows: ["a", "b"] });
    const dirs = (...names: string[]) => names.map((name) => join(cwd, name));
    expect(load().workflows).toEqual(dirs("a", "b"));
    expect(load({ env: { ASSAY_WORKFLOWS: "c, d" } }).workflows).toEqual(dirs("c", "d"));
    expect(load({ flags: { workflows: ["e", "f,g"] } }).workflows).toEqual(dirs("e", "f", "g"));
  });

  test("count an empty variable as not set", () => {
    expect(load({ env: { ASSAY_PORT: "", ASSAY_KEY: "" } })).toMatchObject({ port: 4100, key: undefined });
  });

  test("do not take the tools that this process is offered as an agent for the address of its own gateway", () => {
    const env = { ASSAY_TOOLS_URL: "http://127.0.0.1:5000" };
    expect(load({ env }).toolsUrl).toBe("http://127.0.0.1:5000");
    expect(load({ env: { ...env, ASSAY_TOOLS_TOKEN: "of-one-call" } }).toolsUrl).toBeUndefined();
  });

  test("take paths relative to the file that names them", () => {
    mkdirSync(join(cwd, "etc"));
    configFile({ data: "store", keys: "/abs/keys.json" }, "etc/other.json");
    expect(load({ file: "etc/other.json" })).toMatchObject({ data: join(cwd, "etc/store"), keys: "/abs/keys.json" });
    expect(load({ env: { ASSAY_CONFIG: "etc/other.json" } }).data).toBe(join(cwd, "etc/store"));
  });
});

describe("settings with mistakes", () => {
  test("are refused all together, each by the name it was given", () => {
    configFile({ prot: 1, maxStreams: "many" });
    const broken = () => load({ env: { ASSAY_LEASE_MS: "1.5" }, flags: { port: "70000", disable: ["pauseResum"] } });
    expect(broken).toThrow(/assay\.config\.json has an unknown key "prot"; did you mean "port"\?/);
    expect(broken).toThrow(/"maxStreams" in assay\.config\.json must be a whole number/);
    expect(broken).toThrow(/ASSAY_LEASE_MS must be a whole number from 100 to 2147483647 \(milliseconds\), not "1\.5"/);
    expect(broken).toThrow(/--port must be a whole number from 0 to 65535, not "70000"/);
    expect(broken).toThrow(/--disable must be one of .*, not "pauseResum"; did you mean pauseResume\?/);
  });

  test.each([
    ["{", /assay\.config\.json is not JSON/],
    ["[1]", /assay\.config\.json must hold a JSON object/],
    ['{"worker":"yes"}', /"worker" in assay\.config\.json must be true or false/],
    ['{"url":"ftp://x"}', /must be an address such as http/],
    ['{"url":"http://127.0.0.1:4100/v1/"}', /must be the address without \/v1/],
    ['{"host":5}', /must be a text/],
    ['{"leaseMs":1000,"leaseRenewMs":900}', /leaseRenewMs \(900\) must be at most half of leaseMs \(1000\)/],
  ])("in the file %s are named", (content, message) => {
    configFile(content);
    expect(() => load()).toThrow(message);
  });

  test("include a file that was asked for and is not there", () => {
    expect(() => load({ file: "nowhere.json" })).toThrow(/nowhere\.json cannot be read/);
  });

  test("never repeat a secret", () => {
    const secret = "mysql://user:hunter2@db/x";
    expect(() => load({ env: { ASSAY_DATABASE_URL: secret } })).toThrow(/ASSAY_DATABASE_URL must look like postgres:/);
    expect(() => load({ env: { ASSAY_DATABASE_URL: secret } })).not.toThrow(/hunter2/);
  });

  test.each(["http://user:hunter2@127.0.0.1:4100", "https://:hunter2@host/v1", "ftp://hunter2@host"])(
    "include the address %s: what opens a server is its key",
    (url) => {
      const problem = /--url must be an address without a user or password; the key goes into ASSAY_KEY or --key/;
      expect(() => load({ flags: { url } })).toThrow(problem);
      expect(() => load({ flags: { url } })).not.toThrow(/hunter2/);
    },
  );
});

describe("the table of settings", () => {
  test("gives every setting a flag and a variable of its own", () => {
    expect(new Set(SETTING_NAMES.map(flagOf)).size).toBe(SETTING_NAMES.length);
    expect(new Set(SETTING_NAMES.map(environmentNameOf)).size).toBe(SETTING_NAMES.length);
    expect(flagOf("maxRequestBodyBytes")).toBe("--max-request-body-bytes");
    expect(environmentNameOf("maxRequestBodyBytes")).toBe("ASSAY_MAX_REQUEST_BODY_BYTES");
    expect(flagOf("worker")).toBe("--no-worker");
  });

  test("says one sentence about each", () => {
    for (const name of SETTING_NAMES) expect(SETTINGS[name].summary, name).toMatch(/^[A-Z].*\.$/);
  });

  test("can switch off what the protocol knows as a capability", () => {
    const choices: readonly string[] = SETTINGS.disable.choices;
    expect([...choices].sort()).toEqual(CAPABILITIES.filter((name) => name !== "conformanceSeams").sort());
  });
});

test("colours are not wanted with NO_COLOR or on a terminal that has none", () => {
  expect(coloursWanted({})).toBe(true);
  expect(coloursWanted({ NO_COLOR: "" })).toBe(true);
  expect(coloursWanted({ NO_COLOR: "1" })).toBe(false);
  expect(coloursWanted({ TERM: "dumb" })).toBe(false);
});

test("a variable that is no setting is warned of by name, with the nearest setting and without its value", () => {
  expect(unknownVariables({ ASSAY_PROT: "s3cret", HOME: "/", ASSAY_PORT: "1" })).toEqual([
    "ASSAY_PROT is no setting of Assay and was ignored. Did you mean ASSAY_PORT?",
  ]);
  expect(unknownVariables({ ASSAY_ZZZZZZ: "" })).toEqual([
    "ASSAY_ZZZZZZ is no setting of Assay and was ignored. docs/configuration.md lists the settings.",
  ]);
});

test("variables that programs are given, and those that a setting names, are known", () => {
  const names = ["CONFIG", "TASK_ID", "RUN_ID", "TRIAL", "TOOLS_URL", "TOOLS_TOKEN", "TAPE", "PROCESS_TAPE", "MY_KEY"];
  const env = Object.fromEntries(names.map((name) => [`ASSAY_${name}`, "x"]));
  expect(unknownVariables({ ...env, ASSAY_STARTED_0ab1: "1" }, ["ASSAY_MY_KEY"])).toEqual([]);
});

test("variables that the agents file names are known", async () => {
  const agents = join(tempDir(), "agents.json");
  const binding = { type: "http", url: "https://agents.example/", apiKeyEnv: "ASSAY_REFUNDS_KEY" };
  writeFileSync(agents, JSON.stringify({ bindings: { "local.acme.refunds": binding } }));
  const io = recordedIo();
  const env = { ASSAY_AGENTS: agents, ASSAY_REFUNDS_KEY: "x", ASSAY_OTHER_KEY: "y" };
  const code = await main(["migrate", "--data", tempDir()], { io, env, cwd: tempDir() });
  expect({ code, err: io.errLines }).toEqual({
    code: 0,
    err: [expect.stringContaining("ASSAY_OTHER_KEY is no setting")],
  });
});

test("a command that reads settings warns on standard error and goes on", async () => {
  const io = recordedIo();
  const env = { ASSAY_DTAA: "x", ASSAY_REVIEW_MODEL_KEY_ENV: "ASSAY_CHOSEN", ASSAY_CHOSEN: "y" };
  const code = await main(["migrate", "--data", tempDir()], { io, env, cwd: tempDir() });
  expect({ code, err: io.errLines }).toEqual({
    code: 0,
    err: ["assay: warning: ASSAY_DTAA is no setting of Assay and was ignored. Did you mean ASSAY_DATA?"],
  });
});
