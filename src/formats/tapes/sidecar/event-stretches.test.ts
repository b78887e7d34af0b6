import { expect, test } from "vitest";
import { pick, randomFrom } from "../../../testing/random-workflow.ts";
import { aRow } from "../../../testing/tape-files.ts";
import { EventStretches, stretchOf } from "./event-stretches.ts";

test("an event is among stretches when any of them holds it, however they lie", () => {
  const random = randomFrom(3);
  const some = [0n, 1n, 2n, 3n, 5n, 8n, 2n ** 63n, 2n ** 64n - 1n];
  for (let round = 0; round < 300; round++) {
    const rows = Array.from({ length: round % 5 }, () => {
      const event_id = pick(random, some);
      return aRow({ event_id, span: { start_event_id: event_id, end_event_id: pick(random, some) } });
    });
    const stretches = new EventStretches(rows);
    for (const seq of [...some, 4n, 6n, 9n]) {
      const held = rows.map(stretchOf).some(({ first, last }) => first <= seq && seq <= last);
      expect(stretches.has(seq)).toBe(held);
    }
  }
});
