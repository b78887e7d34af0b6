import { describe, expect, test } from "vitest";
import { REMARK_ID } from "../../../formats/reviews/response.ts";
import { DEFAULT_AGENT } from "../../reviewer.ts";
import { builtinReviewer } from "./builtin-reviewer.ts";
import { RULES } from "./review-by-rules.ts";

const MARKDOWN = "text/markdown";
const SCRIPT = "application/javascript";
const PYTHON = "text/x-python";
const JSON_TYPE = "application/json";

/** The rules that find something, each as often as it does. */
async function found(media_type: string, content: unknown): Promise<string[]> {
  const request = { protocol_version: "1.2", iteration: 1, artifact: { media_type, content } } as const;
  const session = { sessionID: "s", last: 0, issued: [], decisions: [] };
  const reviewer = builtinReviewer();
  expect(reviewer.agent).toBe(DEFAULT_AGENT);
  const { remarks } = await reviewer.review({ request, session, decisions: [], signal: new AbortController().signal });
  for (const { id } of remarks) expect(id).toMatch(REMARK_ID);
  expect(new Set(remarks.map(({ id }) => id)).size).toBe(remarks.length);
  return remarks.map(({ id }) => id.split(".")[0] ?? "");
}

const lines = (...texts: string[]) => texts.join("\n");

/** What each rule finds, and what looks like it and is none. */
const examples: Readonly<Record<string, { finds: [string, unknown][]; leaves: [string, unknown][] }>> = {
  "todo-mark": {
    finds: [
      ["text/plain", "TODO"],
      ["text/plain", "a FIXME(bob) here"],
      ["text/plain", "the XXX part"],
      [MARKDOWN, lines("```", "x // TODO: y", "```")],
      [SCRIPT, "f(); // todo: later"],
      [SCRIPT, "const TODO_LATER = 1;"],
      ["application/yaml", "# HACK around it"],
      [JSON_TYPE, { a: [{ note: "TODO: say" }] }],
      [JSON_TYPE, { "TODO later": 1 }],
      [JSON_TYPE, '{"note":"first\\nTODO: second"}'],
      [JSON_TYPE, { note: "first\nTODO: second" }],
      [JSON_TYPE, "{ TODO: not even JSON"],
      ["text/plain", { a: "TODO" }],
    ],
    leaves: [
      ["text/plain", "I have a lot to do, and a todo list."],
      ["text/plain", "MASTODON and xxxl"],
      [JSON_TYPE, { a: "done" }],
    ],
  },
  "placeholder-text": {
    finds: [
      ["text/plain", "Owner: TBD"],
      [MARKDOWN, "Lorem ipsum dolor"],
      [MARKDOWN, "The date is to be announced."],
      [SCRIPT, 'const key = "changeme";'],
      ["text/plain", "Dear [insert name here]"],
      [JSON_TYPE, { owner: "to be determined" }],
      ["text/plain", "The limit is 10 ??? requests."],
    ],
    leaves: [["text/plain", "The owner is Ada; insert the card."]],
  },
  "conflict-marker": {
    finds: [
      ["text/plain", lines("<<<<<<< HEAD", "a", "=======", "b", ">>>>>>> other")],
      [SCRIPT, lines("<<<<<<< HEAD", "a();")],
    ],
    leaves: [["text/plain", lines("=======", "Title", "=======")]],
  },
  "empty-catch": {
    finds: [
      [SCRIPT, lines("try {", "  f();", "} catch (e) {}")],
      [SCRIPT, lines("try {", "  f();", "} catch {", "}")],
      [PYTHON, lines("try:", "    f()", "except OSError:", "    pass")],
      [PYTHON, lines("try: f()", "except OSError: pass")],
    ],
    leaves: [
      [SCRIPT, lines("try {", "  f();", "} catch (e) {", "  report(e);", "}")],
      [SCRIPT, lines("try {", "  f();", "} catch {", "  // It may be gone already.", "}")],
      [PYTHON, lines("try:", "    f()", "except OSError:", "    raise")],
    ],
  },
  "unreadable-json": {
    finds: [
      [JSON_TYPE, "{"],
      ["application/x-ndjson", lines('{"a":1}', "nonsense", "")],
    ],
    leaves: [
      [JSON_TYPE, "{}"],
      ["application/x-ndjson", lines('{"a":1}', '{"a":2}', "")],
    ],
  },
  "duplicate-name": {
    finds: [
      [JSON_TYPE, '{"a":{"b":1,"c":[{"d":1}],"b":2}}'],
      [JSON_TYPE, '{"a":1,"\\u0061":2}'],
    ],
    leaves: [
      [JSON_TYPE, '[{"a":1},{"a":{"a":2}}]'],
      [JSON_TYPE, '{"a":"{\\"b\\":1,\\"b\\":2}"}'],
    ],
  },
  "empty-section": {
    finds: [
      [MARKDOWN, lines("# A", "text", "## B", "## C", "text")],
      [MARKDOWN, lines("# A", "", "<!-- later -->", "")],
      [MARKDOWN, lines("A", "=", "", "# B", "text")],
    ],
    leaves: [
      [MARKDOWN, lines("# A", "", "## B", "text")],
      [MARKDOWN, lines("# A", "```", "# B", "```")],
    ],
  },
  "open-fence": {
    finds: [
      [MARKDOWN, lines("a", "```js", "code")],
      [MARKDOWN, lines("a", "> ```js", "> code", "", "b")],
      [MARKDOWN, "~~~"],
    ],
    leaves: [
      [MARKDOWN, lines("````", "```", "````", "a")],
      [MARKDOWN, lines("- a", "", "  ```", "  code", "  ```")],
      [MARKDOWN, lines("> ```", "> code", "> ```")],
    ],
  },
  "dead-anchor": {
    finds: [[MARKDOWN, lines("# A", "see [b](#b)")]],
    leaves: [
      [MARKDOWN, lines("# The `x` of it!", "see [a](#the-x-of-it)")],
      [MARKDOWN, lines("# A", "a", "# A", 'see [a](#a-1) and [b](#b) <a id="b"></a>')],
      [MARKDOWN, lines("# A", "see `[b](#b)` and [c](c.md#d)")],
      [MARKDOWN, lines("# A [link](x.md) and *more*", "see [a](#a-link-and-more)")],
      [MARKDOWN, lines("# Über uns", "see [a](#%C3%BCber-uns)")],
    ],
  },
  "dead-reference": {
    finds: [
      [MARKDOWN, "see [this][gone]"],
      [MARKDOWN, lines("- see", "  [this][]")],
    ],
    leaves: [
      [MARKDOWN, lines("see [this][Here]", "", "[here]: https://example.org")],
      [MARKDOWN, "see `[this][gone]`, \\[this\\]\\[gone\\] and rows[0][1]"],
    ],
  },
  "dead-link": {
    finds: [
      [MARKDOWN, "see [this]()"],
      [MARKDOWN, "see [this](http://localhost:3000/x)"],
      [MARKDOWN, "see [this](file:///home/ada/x) and ![that](C:\\\\x.png)"],
    ],
    leaves: [[MARKDOWN, "see [this](other.md) and `[that]()`"]],
  },
  "leftover-debugging": {
    finds: [
      [SCRIPT, "console.log(x);"],
      [SCRIPT, "debugger;"],
      [PYTHON, "import pdb; pdb.set_trace()"],
      ["text/x-rust", "dbg!(x);"],
      [SCRIPT, 'test.only("a", () => {});'],
    ],
    leaves: [
      [SCRIPT, 'const text = "console.log(x)"; // console.log(x)'],
      [SCRIPT, "console.error(x);"],
    ],
  },
};

test("there is an example of every rule", () => {
  expect(Object.keys(examples).sort()).toEqual(RULES.map(({ id }) => id).sort());
});

describe.each(Object.entries(examples))("the rule %s", (rule, { finds, leaves }) => {
  test.each(finds)("finds it in %s: %j", async (type, content) => {
    expect(await found(type, content)).toContain(rule);
  });

  test.each(leaves)("leaves alone in %s: %j", async (type, content) => {
    expect(await found(type, content)).not.toContain(rule);
  });
});

test("every TODO mark has a remark of its own, also where the words are the same", async () => {
  const todos = await found("text/plain", lines("TODO", "TODO", "x TODO: a TODO: b", "TODO"));
  expect(todos.filter((rule) => rule === "todo-mark")).toHaveLength(5);
});
