import { expect, test } from "vitest";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { reviewOf, roundOf, writing } from "../../testing/review-builders.ts";
import { roundsOf } from "./stored-review.ts";

test("a session is read as far as its head counts, although it has gone on since", async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  const head = reviewOf("t1", { rounds: 1 });
  const first = roundOf(head, 1);
  await store.commit({ tenant: "t1", reviews: [writing(head, [first])] });
  const later = { ...head, revision: 2, rounds: 2 };
  expect((await store.commit({ tenant: "t1", reviews: [writing(later, [roundOf(head, 2)])] })).ok).toBe(true);
  expect(await roundsOf(store, head)).toEqual([first]);
  expect(await roundsOf(store, later)).toHaveLength(2);
  await store.close();
});
