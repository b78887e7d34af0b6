import { setImmediate as nextTurn } from "node:timers/promises";

const PIECE_BYTES = 4 * 1024;

/**
 * Passes bytes on a piece at a time, each when the one before it has been processed. Readers of a model's answer take all that is
 * there at once without back-pressure, so that a fast server would hold the event loop, and fill the memory.
 */
export function littleByLittle(): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    async transform(chunk, controller) {
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
        controller.enqueue(chunk.subarray(at, at + PIECE_BYTES));
        await nextTurn();
      }
    },
  });
}
