import { expect, test } from "vitest";
import type { Document } from "../../store/port/documents.ts";
import { allDocuments, type DocumentReads } from "./all-documents.ts";

test("all documents are read a few megabytes at a time, however large and many they are", async () => {
  const sizes = [10, 1_500_000, 3_000_000, 400_000, 400_000, ...Array.from({ length: 1200 }, () => 5_000)];
  const stored = sizes.map(
    (bytes, i): Document => ({
      tenant: "t1",
      kind: "memory",
      key: String(i).padStart(6, "0"),
      revision: 1,
      atMs: 0,
      body: "x".repeat(bytes),
    }),
  );
  const reads: number[] = [];
  const store: DocumentReads = {
    documentSizes: async (_, __, { after = "", limit }) =>
      stored
        .filter(({ key }) => key > after)
        .slice(0, limit)
        .map(({ key, body }) => ({ key, bytes: body.length })),
    readDocuments: async (_, __, keys) => {
      const found = stored.filter(({ key }) => keys.includes(key));
      reads.push(found.reduce((sum, { body }) => sum + body.length, 0));
      return found;
    },
  };
  const all = await allDocuments(store, "t1", "memory", {}, ({ key }) => key);
  expect(all).toEqual(stored.map(({ key }) => key));
  expect(reads.filter((bytes) => bytes > 2_000_000)).toEqual([3_000_000]);
  expect(reads.length).toBeLessThan(20);
});
