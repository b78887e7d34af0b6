import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recordedIo } from "../../testing/recorded-io.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { main } from "../main.ts";
import { unknownVariables } from "./unknown-variables.ts";

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
