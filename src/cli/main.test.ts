import { describe, expect, test } from "vitest";
import { recordedIo } from "../testing/recorded-io.ts";
import { tempDir } from "../testing/temp-dir.ts";
import { main } from "./main.ts";

async function assay(...argv: string[]) {
  const io = recordedIo();
  const code = await main(argv, { io, env: {}, cwd: tempDir() });
  return { code, out: io.outLines.join("\n"), err: io.errLines.join("\n") };
}

describe("asking for help", () => {
  test.each([[[]], [["--help"]], [["-h"]], [["help"]]])("with %j shows every command and is fine", async (argv) => {
    const { code, out, err } = await assay(...argv);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    for (const word of ["serve", "worker", "run", "workflow", "key", "whoami", "audit", "backup"]) {
      expect(out).toMatch(new RegExp(`^  ${word}\\b`, "m"));
    }
  });

  test("tells what a command needs from what it can do without", async () => {
    const { out } = await assay("--help");
    expect(out).toMatch(/^ {2}annotations \[RUN\] /m);
    expect(out).toMatch(/^ {2}import FILE /m);
  });

  test("about a group shows its commands", async () => {
    for (const argv of [["run"], ["help", "run"], ["run", "--help"]]) {
      expect(await assay(...argv)).toMatchObject({ code: 0, err: "", out: expect.stringMatching(/^ {2}watch RUN/m) });
    }
  });

  test("about a command shows its flags, its settings with variable and default, examples and exit codes", async () => {
    const { out } = await assay("run", "watch", "--help");
    expect(out).toContain("Usage: assay run watch [options] <RUN>");
    expect(out).toMatch(/--all +Also the events for debugging/);
    expect(out.replace(/\s+/g, " ")).toContain("(ASSAY_URL, default: http://127.0.0.1:4100)");
    expect(out).toContain("  1  the run failed or was cancelled");
  });
});

describe("a mistake on the command line", () => {
  test("is a complaint with a suggestion and exit code 2", async () => {
    expect(await assay("srve")).toEqual({
      code: 2,
      out: "",
      err: "error: unknown command 'srve'. Did you mean serve?",
    });
    expect(await assay("serve", "--prot", "1")).toMatchObject({
      code: 2,
      err: "error: unknown option '--prot'. Did you mean --port?",
    });
  });

  test("is an error object with --json", async () => {
    const { code, out, err } = await assay("run", "show", "--json");
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(JSON.parse(err)).toMatchObject({ error: "unusable_input", message: expect.stringContaining("RUN") });
  });

  test("in a setting is found before anything is done", async () => {
    expect(await assay("serve", "--port", "x")).toMatchObject({
      code: 2,
      err: expect.stringContaining("--port must be"),
    });
  });

  test("in a value says how to write it", async () => {
    const { code, err } = await assay("run", "start", "w", "--input", "novalue");
    expect({ code, err }).toEqual({ code: 2, err: "error: --input novalue must look like NAME=VALUE." });
    expect(await assay("run", "start", "w", "--inputs", "[1]")).toMatchObject({ code: 2 });
    expect(await assay("run", "start", "w", "--inputs", "@/nowhere")).toMatchObject({ code: 2 });
  });
});

test("a server that is not there is exit code 4 with a hint", async () => {
  const { code, out, err } = await assay("whoami", "--url", "http://127.0.0.1:9");
  expect({ code, out }).toEqual({ code: 4, out: "" });
  expect(err).toMatch(/^error: No answer from http:\/\/127\.0\.0\.1:9: .*Start it with `assay serve`\.$/);
});

test("the API document needs no server and no settings", async () => {
  const { code, out } = await assay("openapi");
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ openapi: "3.1.0" });
  expect(JSON.parse((await assay("openapi", "--asyncapi")).out)).toHaveProperty("asyncapi");
});

test("a published schema is printed by its name, and without a name they are listed", async () => {
  expect(JSON.parse((await assay("schema", "eval-summary")).out)).toMatchObject({
    title: "EvalSummary",
    type: "object",
  });
  const { code, out } = await assay("schema");
  expect(code).toBe(0);
  for (const name of ["annotation", "eval-suite", "eval-summary", "afp-request", "afp-response"])
    expect(out).toContain(name);
  const index = JSON.parse((await assay("schema", "--json")).out);
  expect(index.schemas[0]).toMatchObject({ name: "annotation", url: "/v1/schemas/annotation" });
  const wrong = await assay("schema", "anotation");
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("did you mean annotation?") });
});

test("a worker without PostgreSQL says why it cannot be", async () => {
  expect(await assay("worker")).toMatchObject({ code: 2, err: expect.stringContaining("needs --database-url") });
});
