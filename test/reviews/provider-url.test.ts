import { expect, test } from "vitest";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { assay, serve } from "../cli/assay.ts";
import { provided, request } from "./provide.ts";

test("with an address the session lives on that server, and only there", async () => {
  const server = await serve(["--data", tempDir()]);
  const env = { ASSAY_KEY: server.ownerKey ?? "", HOME: tempDir() };
  const turn = async (stdin: string, ...args: string[]) =>
    provided(await assay(["review", "provide", "--url", server.url, "--format", "json", ...args], { stdin, env }));

  const first = await turn(request(1, "TODO: say it"));
  expect(first).toMatchObject({ code: 0, stderr: "", answer: { status: "success", iteration: 1 } });
  expect(first.messages.map(({ type }) => type)).toEqual(["step_start", "text", "step_finish"]);
  const next = await turn(request(2), "--session", first.sessionID);
  expect(next).toMatchObject({ sessionID: first.sessionID, answer: { iteration: 2 } });

  const unknown = await turn(request(1), "--session", "ses_0123456789abABCDEFGHIJKLMN");
  expect(unknown).toMatchObject({ code: 1, stdout: "", stderr: "Error: Session not found\n" });
  for (const flag of [["--state", tempDir()], ["--continue"], ["--fork", "-s", "x"], ["--reviewer-command", "x"]]) {
    const { code, stdout, stderr } = await turn(request(1), ...flag);
    expect({ code, stdout, stderr }).toMatchObject({ code: 1, stdout: "", stderr: /--url cannot/.exec(stderr)?.input });
  }

  const args = ["review", "provide", "--url", server.url, "--session", first.sessionID];
  expect(JSON.parse((await assay(args, { stdin: request(3), env })).stdout)).toMatchObject({ iteration: 3 });
  await server.stop();
  const gone = await turn(request(4));
  expect(gone.code).toBe(1);
  expect(gone.messages).toMatchObject([{ type: "error" }]);
  expect(gone.stderr).toContain("No answer from");
});
