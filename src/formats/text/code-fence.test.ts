import { expect, test } from "vitest";
import { unfenced } from "./code-fence.ts";

test.each([
  ["```\na\n```", "a"],
  ["  ```json \n{\n}\n```\n", "{\n}"],
  ["```c-like\na\n```\nb\n```", "a\n```\nb"],
  ["```\n```", ""],
  ["a", undefined],
  ["```a```", undefined],
  ["```\na", undefined],
  ["see ```\na\n```", undefined],
  ["```two words\na\n```", undefined],
])("what is fenced in %j is %j", (text, inside) => {
  expect(unfenced(text)).toBe(inside);
});

test("a fence that is opened and never closed is no long search", () => {
  expect(unfenced(`\`\`\`${"\n".repeat(1 << 22)}x`)).toBeUndefined();
  expect(unfenced(`\`\`\`${" ".repeat(1 << 22)}x\n\`\`\``)).toBeUndefined();
});
