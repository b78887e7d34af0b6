import { describe, expect, test } from "vitest";
import { REMARK_ID } from "../../../formats/reviews/response.ts";
import { DEFAULT_AGENT } from "../../reviewer.ts";
import { builtinReviewer } from "./builtin-reviewer.ts";
import { RULES } from "./rules.ts";

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
const words = (count: number) => Array.from({ length: count }, (_, i) => `word${i}`).join(" ");

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
  "bare-except": {
    finds: [[PYTHON, lines("try:", "    f()", "except:", "    g()")]],
    leaves: [[PYTHON, lines("try:", "    f()", "except ValueError:", "    g()")]],
  },
  "ignored-promise": {
    finds: [
      [SCRIPT, "ids.forEach(async (id) => { await load(id); });"],
      [SCRIPT, "fetch(url).then((r) => show(r));"],
      ["application/typescript", lines("load()", "  .then((r) => r.json())", "  .then(show);")],
    ],
    leaves: [
      [SCRIPT, "await fetch(url).then((r) => show(r));"],
      [SCRIPT, "return fetch(url).then((r) => show(r));"],
      [SCRIPT, "fetch(url).then(show).catch(report);"],
      [SCRIPT, lines("load()", "  .then(show)", "  .catch(report);")],
      [SCRIPT, "const p = fetch(url).then(show);"],
      [PYTHON, "x.then(y)"],
    ],
  },
  "shell-goes-on": {
    finds: [["application/x-sh", lines("#!/bin/sh", "cd /srv", "rm -r old", "mv new old")]],
    leaves: [
      ["application/x-sh", lines("#!/bin/sh", "set -eu", "cd /srv", "rm -r old", "mv new old")],
      ["text/x-shellscript", lines("#!/bin/bash -e", "cd /srv", "rm -r old", "mv new old")],
      ["application/x-sh", "echo hello"],
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
      ["application/toml", lines("[server]", "port = 1", "host = 2", "port = 3")],
      ["application/toml", lines("[server]", "a = 1", "[server]", "b = 1")],
      ["application/yaml", lines("a:", "  b: 1", "  c: 2", "  b: 3")],
      ["application/yaml", lines("a: 1", "b: 1", "a: 2")],
    ],
    leaves: [
      [JSON_TYPE, '[{"a":1},{"a":{"a":2}}]'],
      [JSON_TYPE, '{"a":"{\\"b\\":1,\\"b\\":2}"}'],
      ["application/toml", lines("[a]", "x = 1", "[b]", "x = 1", "[[c]]", "x = 1", "[[c]]", "x = 2")],
      ["application/yaml", lines("- a: 1", "  b: 1", "- a: 2", "  b: 2", "c:", "  a: 1", "d:", "  a: 1")],
      ["application/yaml", lines("text: |", "  a: 1", "  a: 1", "other: 1")],
    ],
  },
  "empty-value": {
    finds: [
      [JSON_TYPE, { a: null }],
      [JSON_TYPE, '{"a":{"b":""}}'],
      [JSON_TYPE, { a: [{ b: [] }, { b: {} }] }],
    ],
    leaves: [[JSON_TYPE, { a: 0, b: false, c: [0] }]],
  },
  "mixed-types": {
    finds: [
      [JSON_TYPE, { a: [1, "2"] }],
      [JSON_TYPE, { a: [{ b: 1 }, { b: "x" }] }],
    ],
    leaves: [[JSON_TYPE, { a: [1, 2, null], b: [{ c: 1 }, { d: "x" }] }]],
  },
  "uneven-items": {
    finds: [[JSON_TYPE, { a: [{ b: 1 }, { b: 1 }, { b: 1 }, { c: 1 }] }]],
    leaves: [
      [JSON_TYPE, { a: [{ b: 1 }, { b: 1 }, { b: 1 }, { b: 2 }] }],
      [JSON_TYPE, { a: [{ b: 1 }, { c: 1 }, { d: 1 }, { e: 1 }] }],
    ],
  },
  "tab-in-yaml": {
    finds: [["application/yaml", lines("a:", "\tb: 1")]],
    leaves: [["application/yaml", lines("a:", "  b: 1\t# fine")]],
  },
  "empty-section": {
    finds: [
      [MARKDOWN, lines("# A", "text", "## B", "## C", "text")],
      [MARKDOWN, lines("# A", "", "<!-- later -->", "")],
    ],
    leaves: [
      [MARKDOWN, lines("# A", "", "## B", "text")],
      [MARKDOWN, lines("# A", "```", "# B", "```")],
    ],
  },
  "heading-jump": {
    finds: [[MARKDOWN, lines("# A", "a", "### B", "b")]],
    leaves: [[MARKDOWN, lines("## A", "a", "### B", "b", "# C", "c")]],
  },
  "duplicate-heading": {
    finds: [[MARKDOWN, lines("# A", "a", "## B", "b", "## B", "b")]],
    leaves: [[MARKDOWN, lines("# A", "a", "## B", "b", "# C", "c", "## B", "b")]],
  },
  "open-fence": {
    finds: [[MARKDOWN, lines("a", "```js", "code")]],
    leaves: [[MARKDOWN, lines("````", "```", "````", "a")]],
  },
  "dead-anchor": {
    finds: [[MARKDOWN, lines("# A", "see [b](#b)")]],
    leaves: [
      [MARKDOWN, lines("# The `x` of it!", "see [a](#the-x-of-it)")],
      [MARKDOWN, lines("# A", "a", "# A", 'see [a](#a-1) and [b](#b) <a id="b"></a>')],
      [MARKDOWN, lines("# A", "see `[b](#b)` and [c](c.md#d)")],
    ],
  },
  "dead-reference": {
    finds: [[MARKDOWN, "see [this][gone]"]],
    leaves: [[MARKDOWN, lines("see [this][Here]", "", "[here]: https://example.org")]],
  },
  "dead-link": {
    finds: [
      [MARKDOWN, "see [this]()"],
      [MARKDOWN, "see [this](http://localhost:3000/x)"],
    ],
    leaves: [[MARKDOWN, "see [this](other.md) and `[that]()`"]],
  },
  "image-without-words": {
    finds: [[MARKDOWN, "![](a.png)"]],
    leaves: [[MARKDOWN, "![the plan](a.png)"]],
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
  "silenced-check": {
    finds: [
      [SCRIPT, lines("// @ts-ignore", "f();")],
      [SCRIPT, lines("// eslint-disable-next-line no-eval", "eval(x);")],
      [PYTHON, "f()  # noqa"],
    ],
    leaves: [[SCRIPT, lines("// eslint-disable-next-line no-eval -- the input is ours", "eval(x);")]],
  },
  "long-line": {
    finds: [[SCRIPT, `const a = ${"1 + ".repeat(50)}1;`]],
    leaves: [[SCRIPT, `// https://example.org/${"a".repeat(200)}`]],
  },
  "long-function": {
    finds: [
      [SCRIPT, lines("export function big(a) {", ...Array(90).fill("  f({});"), "}")],
      [SCRIPT, lines("const big = async (a) => {", ...Array(90).fill("  f();"), "};")],
      [PYTHON, lines("def big(a):", ...Array(90).fill("    f()"), "", "g()")],
    ],
    leaves: [
      [SCRIPT, lines("function small() {", "  f();", "}", ...Array(90).fill("f();"))],
      [PYTHON, lines("def small():", "    f()", ...Array(90).fill("f()"))],
    ],
  },
  "every-row": {
    finds: [["application/sql", "delete from runs; update keys set a = 1 -- where b"]],
    leaves: [["application/sql", lines("delete from runs", "where id = 1;", "update keys set a = 1 where true;")]],
  },
  "open-question": {
    finds: [
      ["text/plain", "We ship in May. Who tells the customers?"],
      [MARKDOWN, lines("# A", "- Who pays?", "- When?", "", "## B", "b")],
      ["text/plain", "The limit is 10 ??? requests."],
    ],
    leaves: [
      ["text/plain", "Who tells the customers? Ada does."],
      [MARKDOWN, lines("# Why?", "", "What is needed?", "", "- paper", "- ink")],
      [MARKDOWN, lines("Who pays?", "", "No one: it is free.")],
    ],
  },
  "long-sentence": {
    finds: [["text/plain", `${words(50)}.`]],
    leaves: [["text/plain", `${words(30)}. ${words(30)}.`]],
  },
  "repeated-word": {
    finds: [["text/plain", "This is the the plan."]],
    leaves: [["text/plain", "He had had that that long; a no-no no."]],
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
