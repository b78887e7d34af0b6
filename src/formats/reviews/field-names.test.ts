import { expect, test } from "vitest";
import { isSessionLike, isUnknown } from "./field-names.ts";

test.each(["session", "sessionID", "session_id", "x-session-id", "X-Session.Key", "SESSION TOKEN", "sess_id"])(
  "%s names a session",
  (name) => expect(isSessionLike(name)).toBe(true),
);

test.each(["sessions", "x-x-session", "mysession", "id", "possession"])("%s names none", (name) =>
  expect(isSessionLike(name)).toBe(false),
);

test("a name is unknown unless it is known, marked as an extension, or that of a session", () => {
  expect(["a", "x-b", "session", "c"].filter((name) => isUnknown(name, ["a"]))).toEqual(["c"]);
});
