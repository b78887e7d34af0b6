import { expect, test } from "vitest";
import { pick, randomFrom } from "../../testing/random-workflow.ts";
import { aRow } from "../../testing/tape-files.ts";
import { MutedEvents, stretchOf } from "./muted-events.ts";

test("an event is muted when any stretch holds it, however they lie", () => {
  const random = randomFrom(3);
  const some = [0n, 1n, 2n, 3n, 5n, 8n, 2n ** 63n, 2n ** 64n - 1n];
  for (let round = 0; round < 300; round++) {
    const mutes = Array.from({ length: round % 5 }, () => {
      const event_id = pick(random, some);
      return aRow({ event_id, span: { start_event_id: event_id, end_event_id: pick(random, some) } });
    });
    const muted = new MutedEvents(mutes);
    for (const seq of [...some, 4n, 6n, 9n]) {
      const held = mutes.map(stretchOf).some(({ first, last }) => first <= seq && seq <= last);
      expect(muted.has(seq)).toBe(held);
    }
  }
});
