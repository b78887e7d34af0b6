import { describe, expect, test } from "vitest";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { Random } from "../torture/random.js";
import { Talk } from "./torture/talk.js";
import { verify } from "./torture/verify.js";

const limitMs = 120_000;

/** A few; `npm run torture:reviews` does the same for as long as one likes. */
const KILLS = 2;

describe("a conversation whose requester and provider are killed at random moments", () => {
  test(
    "comes to the same end: no turn is lost, none is sent after its answer, no lock keeps anybody out",
    async () => {
      // Time decides the moments, and the complaint names the seed.
      const seed = Date.now() % 1_000_000;
      const random = new Random(seed);
      for (let kills = 0; kills === 0; ) {
        const talk = new Talk(tempDir(), random.fork(), KILLS);
        await talk.hold();
        expect([...talk.complaints, ...verify(talk)], `seed ${seed}`).toEqual([]);
        // One in which the moments were all missed says nothing.
        kills = Object.values(talk.kills).reduce((sum, count) => sum + count, 0);
      }
    },
    limitMs,
  );
});
