import { expect, test } from "vitest";
import { MASK } from "../events.ts";
import { maskValues, SECRETS_MAX } from "./sensitive.ts";

const alike = Array.from({ length: 400 }, (_, i) => `sk-p${"aB3dE6gH9j".repeat(90).slice(0, 20 + 2 * i)}x`);

test("a text that begins like hundreds of secrets in every place is not shown at all", () => {
  expect(maskValues({ text: "sk-p ".repeat(60_000) }, alike)).toEqual({ text: MASK });
});

test("a long text in which a long secret nearly begins in every place is not shown at all", () => {
  const secret = `${"a".repeat(10_000)}b${"a".repeat(10_000)}`;
  expect(maskValues("a".repeat(900_000), [secret])).toBe(MASK);
});

test("a long text with secrets in it is shown without them, however many and long they are", () => {
  const plain = "A sentence of ordinary words, sketches among them. ".repeat(2_000);
  const long = "x1y2".repeat(5_000);
  expect(maskValues(`${plain}${long}${plain}`, [long])).toBe(`${plain}${MASK}${plain}`);
  expect(maskValues(`${plain}${alike[7]}, ${alike[399]}`, alike)).toBe(`${plain}${MASK}, ${MASK}`);
});

test("of a run with more secrets than it may hold no text is shown", () => {
  const secrets = Array.from({ length: SECRETS_MAX + 1 }, (_, i) => `secret ${i}`);
  expect(maskValues("an ordinary note", secrets)).toBe(MASK);
  expect(maskValues("an ordinary note", secrets.slice(1))).toBe("an ordinary note");
});
