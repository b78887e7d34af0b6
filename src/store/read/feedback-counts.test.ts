import { describe, expect, test } from "vitest";
import { LABELS_NAMED, LabelCounts } from "./feedback-counts.ts";

describe("the labels of a group", () => {
  test("are all named with their numbers where they are few, and apart from those of other groups", () => {
    const counts = new LabelCounts();
    for (const [group, label, n] of [
      ["a", "tone", 2],
      ["b", "tone", 5],
      ["a", "facts", 1],
      ["a", "tone", 1],
    ] as const) {
      counts.add(group, label, n);
    }
    expect(counts.of("a")).toEqual({ labels: { tone: 3, facts: 1 }, otherLabels: 0 });
    expect(counts.of("b")).toEqual({ labels: { tone: 5 }, otherLabels: 0 });
    expect(counts.of("c")).toEqual({ labels: {}, otherLabels: 0 });
  });

  test.each(["rising", "falling"])("beyond the most frequent are counted and not named, given in %s order", (order) => {
    const counts = new LabelCounts();
    const all = Array.from({ length: 9 * LABELS_NAMED }, (_, i) => i + 1);
    for (const n of order === "rising" ? all : all.reverse()) counts.add("a", `l${n}`, n);
    const { labels, otherLabels } = counts.of("a");
    const numbers = Object.values(labels);
    expect(numbers).toHaveLength(LABELS_NAMED);
    expect(Math.min(...numbers)).toBe(8 * LABELS_NAMED + 1);
    expect(otherLabels).toBe((8 * LABELS_NAMED * (8 * LABELS_NAMED + 1)) / 2);
  });

  test("of the same number are named in the order of their names", () => {
    const counts = new LabelCounts();
    for (let i = 2 * LABELS_NAMED; i > 0; i--) counts.add("a", `l${String(i).padStart(5, "0")}`, 1);
    const names = Object.keys(counts.of("a").labels);
    expect([names[0], names.at(-1)]).toEqual(["l00001", `l${String(LABELS_NAMED).padStart(5, "0")}`]);
  });
});
