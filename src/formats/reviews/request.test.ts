import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import {
  checkRequest,
  isSessionLike,
  isUnknown,
  mediaTypeOf,
  REQUEST_BYTES_MAX,
  REQUEST_DEPTH_MAX,
  readRequest,
} from "./request.ts";

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

const fixtures = fileURLToPath(new URL("../../../test/reviews/fixtures/", import.meta.url));

interface Fixture {
  readonly file: string;
  readonly kind: string;
  readonly expect: { readonly problem?: string; readonly iteration?: number };
}

const all: readonly Fixture[] = JSON.parse(readFileSync(`${fixtures}manifest.json`, "utf8"));
const requests = all.filter(({ kind }) => kind === "request");

test("every request among the fixtures is known to the manifest", () => {
  const files = readdirSync(fixtures).filter((name) => name.startsWith("req-"));
  expect(requests.map(({ file }) => file).sort()).toEqual(files.sort());
});

test.each(requests)("$file fails the check that the manifest names, or none", ({ file, expect: { problem } }) => {
  const checked = readRequest(readFileSync(`${fixtures}${file}`));
  expect(checked.ok ? undefined : checked.problem).toBe(problem);
});

function request(changes: object = {}): Record<string, unknown> {
  return { protocol_version: "1.2", iteration: 1, artifact: { media_type: "text/plain", content: "x" }, ...changes };
}

function artifact(changes: object): Record<string, unknown> {
  return request({ artifact: { media_type: "text/plain", content: "x", ...changes } });
}

function decided(...items: unknown[]): Record<string, unknown> {
  return request({ applied_feedback: { items } });
}

function problemOf(value: unknown): string | undefined {
  const checked = checkRequest(value);
  return checked.ok ? undefined : checked.problem;
}

const bytes = (text: string) => new TextEncoder().encode(text);

describe("the bytes of a request", () => {
  test("may begin with a byte-order mark", () => {
    expect(readRequest(bytes(`\ufeff${JSON.stringify(request())}`)).ok).toBe(true);
  });

  test("must be UTF-8", () => {
    const broken = Buffer.concat([Buffer.from('{"protocol_version":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);
    expect(readRequest(broken)).toMatchObject({ ok: false, problem: "encoding" });
  });

  test("may be as many as are allowed, and not one more", () => {
    const frame = JSON.stringify(request({ "x-fill": "" })).length;
    const whole = JSON.stringify(request({ "x-fill": "a".repeat(REQUEST_BYTES_MAX - frame) }));
    expect(readRequest(bytes(whole)).ok).toBe(true);
    expect(readRequest(bytes(`${whole} `))).toMatchObject({ ok: false, problem: "size" });
  });

  test("may be nested as deep as is allowed, and not deeper", () => {
    const nested = (levels: number) =>
      `{"x-deep":${"[".repeat(levels)}${"]".repeat(levels)},${JSON.stringify(request()).slice(1)}`;
    expect(readRequest(bytes(nested(REQUEST_DEPTH_MAX - 1))).ok).toBe(true);
    expect(readRequest(bytes(nested(REQUEST_DEPTH_MAX)))).toMatchObject({ ok: false, problem: "depth" });
  });

  test("count brackets in texts as text", () => {
    expect(readRequest(bytes(JSON.stringify(artifact({ content: '"[{\\'.repeat(5000) })))).ok).toBe(true);
  });

  test.each([["{"], ["nonsense"], ['{"iteration": 01}']])("that are not JSON are refused: %s", (text) => {
    expect(readRequest(bytes(text))).toMatchObject({ ok: false, problem: "syntax" });
  });
});

describe("an iteration", () => {
  test.each([[1], [2], [Number.MAX_SAFE_INTEGER]])("can be %d", (iteration) => {
    expect(problemOf(request({ iteration }))).toBeUndefined();
  });

  test.each([["1e0"], ["2.0"]])("can be written %s", (text) => {
    const written = JSON.stringify(request()).replace('"iteration":1', `"iteration":${text}`);
    expect(readRequest(bytes(written)).ok).toBe(true);
  });

  test.each([[0], [-1], [1.5], ["2"], [true], [null], [2 ** 53]])("cannot be %j", (iteration) => {
    expect(problemOf(request({ iteration }))).toBe("iteration");
  });

  test("is echoed by an error when it could be read, and only then", () => {
    expect(checkRequest(request({ protocol_version: "2.0", iteration: 4 }))).toMatchObject({ iteration: 4 });
    expect(checkRequest(request({ protocol_version: "2.0", iteration: 0 }))).not.toHaveProperty("iteration");
  });
});

describe("an artifact", () => {
  test.each([[""], [0], [false], [null], [[]], [{}]])("can have the content %j", (content) => {
    expect(problemOf(artifact({ content }))).toBeUndefined();
  });

  test("may hold names like those of sessions in its content, and nowhere else", () => {
    expect(problemOf(artifact({ content: { sessionID: "x" } }))).toBeUndefined();
    expect(problemOf(artifact({ sessionID: "x" }))).toBe("session_field");
  });

  test.each([["text"], ["text/"], ["/plain"], ["text/plain/x"], ["te xt/plain"], [7], [null]])(
    "cannot be of the type %j",
    (media_type) => {
      expect(problemOf(artifact({ media_type }))).toBe("media_type");
    },
  );

  test("cannot have null for what may be left out", () => {
    expect(problemOf(artifact({ artifact_ref: null }))).toBe("artifact_ref");
    expect(problemOf(decided({ id: "a", status: "accepted", reason_code: null }))).toBe("applied_item");
    expect(problemOf(decided({ id: "a", status: "accepted", explanation: null }))).toBe("applied_item");
  });
});

test("a media type is compared without case, blanks and parameters", () => {
  expect(mediaTypeOf("Text/Markdown ; charset=UTF-8")).toBe("text/markdown");
});

describe("decisions", () => {
  test("can be none, and on any id", () => {
    expect(problemOf(decided())).toBeUndefined();
    expect(problemOf(decided({ id: "", status: "accepted" }, { id: "Any Thing!", status: "partial" }))).toBeUndefined();
  });

  test.each([[null], [[]], ["x"]])("cannot be %j", (applied_feedback) => {
    expect(problemOf(request({ applied_feedback }))).toBe("applied_feedback");
  });

  test.each([[null], [{ status: "accepted" }], [{ id: 1, status: "accepted" }], [{ id: "a", status: "done" }]])(
    "cannot hold %j",
    (item) => {
      expect(problemOf(decided({ id: "a", status: "accepted" }, item))).toBe("applied_item");
    },
  );
});

describe("a name that looks like one of a session", () => {
  test.each([
    ["session"],
    ["sessionID"],
    ["session_id"],
    ["X-Session-Id"],
    ["x-sess.id"],
    ["Session Token"],
    ["SESSION-KEY"],
  ])("is refused wherever the request has it: %s", (name) => {
    expect(problemOf(request({ [name]: "a" }))).toBe("session_field");
    expect(problemOf(artifact({ [name]: "a" }))).toBe("session_field");
    expect(problemOf(request({ applied_feedback: { items: [], [name]: "a" } }))).toBe("session_field");
    expect(problemOf(decided({ id: "a", status: "accepted", [name]: "a" }))).toBe("session_field");
  });

  test("is not one that merely begins like it", () => {
    expect(problemOf(request({ sessions: 1, x_session: 1 }))).toBeUndefined();
  });
});

test("the first check that fails decides, in the order of the protocol", () => {
  const wrong = {
    iteration: "1",
    session: "s",
    artifact: { content: 1, artifact_ref: 2 },
    applied_feedback: { items: [null] },
  };
  expect(problemOf(wrong)).toBe("protocol_version");
  const repaired: [string, object][] = [
    ["iteration", { protocol_version: "1.2" }],
    ["session_field", { iteration: 1 }],
    ["media_type", { session: undefined, artifact: { artifact_ref: 2 } }],
    ["content", { artifact: { media_type: "text/plain", artifact_ref: 2 } }],
    ["artifact_ref", { artifact: { media_type: "text/plain", content: 1, artifact_ref: 2 } }],
    ["applied_item", { artifact: { media_type: "text/plain", content: 1 } }],
  ];
  let value: object = wrong;
  for (const [problem, repair] of repaired) {
    value = JSON.parse(JSON.stringify({ ...value, ...repair }));
    expect(problemOf(value)).toBe(problem);
  }
});

describe("names that nobody knows", () => {
  test("are ignored with a warning unless they are marked as extensions", () => {
    const value = { ...decided({ id: "a", status: "accepted", mood: 1, "x-mood": 1 }), extra: 1, "x-extra": 1 };
    const checked = checkRequest(value);
    expect(checked.ok && checked.warnings.map(({ code, message }) => [code, message])).toEqual([
      ["unknown_field", "extra is not known and was ignored"],
      ["unknown_field", "applied_feedback.items[0].mood is not known and was ignored"],
    ]);
  });

  test("are shortened in messages, since they may be of any length", () => {
    const checked = checkRequest(request({ ["a".repeat(100_000)]: 1 }));
    expect(checked.ok && (checked.warnings[0]?.message.length ?? 0)).toBeLessThan(200);
  });

  test("are shown as a whole or hardly at all, since a secret without its end is not known for one", () => {
    const name = `hvb.${"aB3dE6gH9jK2mN5p".repeat(8)}`;
    const checked = checkRequest(request({ artifact: { media_type: "text/plain", content: "", [name]: 1 } }));
    expect(checked.ok && checked.warnings[0]?.message).toBe("artifact.hvb.aB3dE6gH9jK2… is not known and was ignored");
  });
});
