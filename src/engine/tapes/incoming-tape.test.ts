import { expect, test } from "vitest";
import { aTape, tapeText } from "../../testing/tape-files.ts";
import { incomingTape } from "./incoming-tape.ts";

const LIMIT = 8000;
const plain = { scrubText: (text: string) => text };

test("a tape may be as long as a run can be, and is refused beyond that, with how far it would fit", async () => {
  const quarter = { kind: "file_delete", path: "x".repeat(LIMIT / 4) } as const;
  const taken = await incomingTape(plain, tapeText(aTape(quarter, quarter, quarter)), undefined, LIMIT);
  expect(taken.payloads).toHaveLength(3);
  const refused = incomingTape(plain, tapeText(aTape(quarter, quarter, quarter, quarter)), undefined, LIMIT);
  await expect(refused).rejects.toMatchObject({
    code: "tape_too_long",
    details: { problem: expect.stringContaining("only its first 3 records fit"), limitCharacters: LIMIT },
  });
});
