import { afterEach, expect, test, vi } from "vitest";
import { processIo } from "./io.ts";

afterEach(() => vi.restoreAllMocks());

const FOREIGN = "a\u009b31mb \u202edesrever \u2066c\u0007d\u001b]0;title\u0007e\rf\u001b[2Jg";

function written(stream: "stdout" | "stderr"): string[] {
  const lines: string[] = [];
  vi.spyOn(process[stream], "write").mockImplementation((text) => lines.push(String(text)) > 0);
  return lines;
}

test("text of others cannot drive the terminal, whatever a command prints", () => {
  const lines = written("stdout");
  processIo(false).out(FOREIGN);
  expect(lines).toEqual(["a\\u009b31mb \\u202edesrever \\u2066c\\u0007d\\u001b]0;title\\u0007e\nf\\u001b[2Jg\n"]);
});

test("JSON that is printed is the same value, without raw controls and marks of direction", () => {
  const value = { name: "x\u0085\u202e\u2069y\u001b[31m", more: ["\u009d", "tab\tline\n", "häßlich 秘密 😀"] };
  const lines = written("stdout");
  processIo(false).out(JSON.stringify(value, null, 1).replaceAll("\n", "\r\n"));
  const [text = ""] = lines;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  expect(text).not.toMatch(/[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  expect(JSON.parse(text)).toEqual(value);
});

test("text of others cannot conceal itself or what follows", () => {
  const lines = written("stdout");
  processIo(false).out("shown \u001b[8mconcealed\u001b[28m \u001b[7mreversed \u001b[30mblack");
  expect(lines).toEqual(["shown \\u001b[8mconcealed\\u001b[28m \\u001b[7mreversed \\u001b[30mblack\n"]);
});

test("errors are escaped too, and colours and line breaks of our own stay", () => {
  const lines = written("stderr");
  processIo(false).err(`one\n\ttwo \u001b[31mred\u001b[39m \u009b`);
  expect(lines).toEqual(["one\n\ttwo \u001b[31mred\u001b[39m \\u009b\n"]);
});

test("a file that is written to standard output is exact", async () => {
  const lines = written("stdout");
  await processIo(false).write("exact \u202e");
  expect(lines).toEqual(["exact \u202e"]);
});
