import { describe, expect, test } from "vitest";
import { AppError, ERRORS, type ErrorCode } from "../../protocol/errors.ts";
import { cliMessage } from "./error-line.ts";

const DETAILS = { runId: "run-1", nodeId: "gate", sourceRunId: "run-1", problem: "it is so", itemId: "itm-1" };
const words = (code: ErrorCode, details: object = DETAILS) => cliMessage(new AppError(code, { ...details }));

describe("an error of the server", () => {
  test.each(Object.keys(ERRORS) as ErrorCode[])("%s names no route on the command line", (code) => {
    const about = code === "unversioned_path" ? { path: "/" } : DETAILS;
    expect(words(code, about)).not.toMatch(/(GET|POST|PUT|DELETE) \/v1/);
  });

  test.each(Object.keys(ERRORS) as ErrorCode[])(
    "%s names no command over HTTP, unless the command line raises it",
    (code) => {
      if (ERRORS[code].status === 500) return;
      expect(new AppError(code, DETAILS).message).not.toContain("`assay ");
    },
  );

  test("names the command that does what its route does", () => {
    expect(words("auth_elevation_required")).toContain("`assay resolve run-1 gate ACTION`");
    expect(words("fork_point_invalid")).toContain("`assay run watch run-1 --all` shows its events");
    expect(words("interrupt_not_found", {})).toContain("`assay inbox` lists those that wait");
    expect(words("queue_already_judged", { itemId: "itm-1" })).toContain("`assay queue judge … --revise`");
    expect(words("key_expired")).toContain("`assay key create`");
  });

  test("about a thing that is not there names the command that lists such things", () => {
    expect(words("not_found", { what: "run" })).toBe(
      "There is no run here that this key can see. `assay run list` lists them.",
    );
    expect(words("not_found", { what: "run", runId: "run-7" })).toBe(
      "There is no run run-7 here that this key can see. `assay run list` lists them.",
    );
    expect(words("not_found", { what: "scored task", taskId: "e" })).toContain("There is no scored task e here");
    expect(words("not_found", { what: "review queue called weekly" })).toContain("`assay queue list` lists them.");
    expect(words("not_found", { what: "page" })).toBe("There is no page here that this key can see.");
  });

  test("about a thing that the message names already does not name it again", () => {
    const error = new AppError("not_found", { what: "agent", agentId: "a" });
    error.message = "There is no agent a here that this key can see. Did you mean b?";
    expect(cliMessage(error)).toBe(error.message);
  });

  test("about a request says the problem alone: on the command line there was no request", () => {
    expect(words("validation_error", { problem: "name must be shorter" })).toBe("name must be shorter.");
  });

  test("that names a command already names no second one", () => {
    const error = new AppError("not_found", { what: "baseline", name: "main" });
    error.message = "There is no baseline main here. See which there are with: assay eval baseline list";
    expect(cliMessage(error)).toBe(error.message);
  });

  test("about a parameter names the flag of the command", () => {
    const error = new AppError("validation_error", { problem: "query/status must be one of a, b" });
    expect(cliMessage(error, ["status"])).toContain("--status must be one of");
    expect(cliMessage(error, [])).toContain("query/status must be one of");
    const instant = new AppError("validation_error", { problem: "query/from must be an instant" });
    expect(cliMessage(instant, ["since", "until"])).toContain("--since must be an instant");
    const id = new AppError("validation_error", { problem: "query/workflowId must be shorter" });
    expect(cliMessage(id, ["workflow"])).toContain("--workflow must be shorter");
  });
});
