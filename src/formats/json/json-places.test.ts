import { describe, expect, test } from "vitest";
import { randomJsonText } from "../../testing/random-json.ts";
import { randomFrom } from "../../testing/random-workflow.ts";
import { placeAt, placesIn } from "./json-places.ts";

describe("a value in a JSON text", () => {
  const text = '{\n  "a": [1, {"b/c": "x\\"]"}],\n  "~": {"é": null}\n}';

  test.each([
    ["", 1, 1],
    ["/a", 2, 3],
    ["/a/0", 2, 9],
    ["/a/1", 2, 12],
    ["/a/1/b~1c", 2, 13],
    ["/~0", 3, 3],
    ["/~0/é", 3, 9],
  ])("is found by its pointer: %s", (pointer, line, column) => {
    expect(placesIn(text, [pointer]).get(pointer)).toEqual({ line, column });
  });

  test("is left out when it is not there", () => {
    expect(placesIn(text, ["/b", "/a/2", "/a/1/b", "/a/x", "/~0/é/0"]).size).toBe(0);
    expect(placesIn("[]", ["/0"]).size).toBe(0);
  });

  test("is the last of several with one name", () => {
    expect(placesIn('{"a":1,"a":2}', ["/a"]).get("/a")).toEqual({ line: 1, column: 8 });
  });

  test("is found behind a string of megabytes and behind a million elements", () => {
    const long = `{"a":"${"\\\\".repeat(2_000_000)}\\"","b":[${"{},".repeat(300_000)}0],"c":1}`;
    expect(placesIn(long, ["/c"]).get("/c")?.column).toBe(long.length - 5);
    expect(placesIn(long, ["/b/300000"]).get("/b/300000")?.column).toBe(long.length - 8);
  });
});

test("every value of a random text is found where reading from there gives that value", () => {
  const random = randomFrom(7);
  for (let i = 0; i < 400; i++) {
    const text = `${" ".repeat(i % 3)}${randomJsonText(random).replaceAll("\r", "\n")}`;
    const values = new Map<string, unknown>();
    collect("", JSON.parse(text), values);
    const lines = text.split("\n");
    const places = placesIn(text, values.keys());
    expect(places.size).toBe(values.size);
    for (const [pointer, { line, column }] of places) {
      const offset = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0) + column - 1;
      expect(placeAt(text, offset)).toEqual({ line, column });
      const name = pointer.split("/").at(-1)?.replaceAll("~1", "/").replaceAll("~0", "~");
      const found = readFrom(text.slice(offset));
      const isName = found.rest.trimStart().startsWith(":");
      expect(isName ? found.value : name, pointer).toEqual(name);
      if (!isName) expect(found.value).toEqual(values.get(pointer));
      else expect(readFrom(found.rest.trimStart().slice(1)).value).toEqual(values.get(pointer));
    }
  }
});

function collect(pointer: string, value: unknown, into: Map<string, unknown>): void {
  into.set(pointer, value);
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    collect(`${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`, member, into);
  }
}

/** The shortest beginning that is JSON on its own and is followed by what may follow a value. */
function readFrom(text: string): { readonly value: unknown; readonly rest: string } {
  for (let end = 1; end <= text.length; end++) {
    const next = text[end];
    if (next !== undefined && !/[\s,:\]}]/.test(next)) continue;
    try {
      return { value: JSON.parse(text.slice(0, end)), rest: text.slice(end) };
    } catch {
      // Not yet a whole one.
    }
  }
  throw new Error("no value begins here");
}
