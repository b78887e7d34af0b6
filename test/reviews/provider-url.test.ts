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
  for (const [flag, value, advice] of [
    ["--state", tempDir(), "the session lives on the server"],
    ["--reviewer-command", "x", "bind the program on the server"],
  ] as const) {
    const { code, stdout, stderr } = await turn(request(1), flag, value);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(`--url cannot be used with ${flag}: ${advice}`);
  }

  const args = ["review", "provide", "--url", server.url, "--session", first.sessionID];
  expect(JSON.parse((await assay(args, { stdin: request(3), env })).stdout)).toMatchObject({ iteration: 3 });
  await server.stop();
  const gone = await turn(request(4));
  expect(gone.code).toBe(1);
  expect(gone.messages).toMatchObject([{ type: "error" }]);
  expect(gone.stderr).toContain("No answer from");
});

test("a session of a server is gone on with, or copied, as one of this machine is", async () => {
  const server = await serve(["--data", tempDir()]);
  const env = { ASSAY_KEY: server.ownerKey ?? "", HOME: tempDir() };
  const turn = async (stdin: string, ...args: string[]) =>
    provided(await assay(["review", "provide", "--url", server.url, "--format", "json", ...args], { stdin, env }));

  const first = await turn(request(1, "TODO: say it"));
  const other = await turn(request(1));
  const remark = first.answer.feedback.areas_for_improvement[0].id;
  const decisions = { applied_feedback: { items: [{ id: remark, status: "accepted" }] } };
  const copy = await turn(request(2, "said", decisions), "--session", first.sessionID, "--fork");
  expect(copy.sessionID).not.toBe(first.sessionID);
  expect(copy.answer.applied_feedback_ack.items).toEqual([{ id: remark, processing_status: "acknowledged" }]);
  // The one it was copied from has not moved.
  const next = await turn(request(2, "said", decisions), "--session", first.sessionID);
  expect(next).toMatchObject({ sessionID: first.sessionID, answer: { status: "success", iteration: 2 } });

  await turn(request(2, "More words."), "--session", other.sessionID);
  const last = await turn(request(3, "Even more words."), "--continue");
  expect(last).toMatchObject({ sessionID: other.sessionID, answer: { status: "success", iteration: 3 } });
  const copied = await turn(request(4, "Enough."), "-c", "--fork");
  expect(copied.answer).toMatchObject({ status: "success", iteration: 4 });
  expect([first.sessionID, other.sessionID]).not.toContain(copied.sessionID);
  const alone = await turn(request(1), "--fork");
  expect(alone).toMatchObject({ code: 1, stderr: "Error: --fork requires --continue or --session\n" });
  const lost = await turn(request(1), "--fork", "--session", "ses_0123456789abABCDEFGHIJKLMN");
  expect(lost).toMatchObject({ code: 1, stdout: "", stderr: "Error: Session not found\n" });

  const unknown = await turn(request(1, "TODO"), "--agent", "nobody");
  expect(unknown).toMatchObject({ code: 0, answer: { status: "success", iteration: 1 } });
  expect(unknown.stderr).toBe('! agent "nobody" not found. Falling back to default agent\n');
});
