import { setImmediate as nextTurn } from "node:timers/promises";

const PIECE_BYTES = 4 * 1024;

/**
 * Lets bytes through a piece at a time, each when the one before it has been gone through. Whoever reads the answer of a model takes all
 * that is there in one go and holds nothing back, so that a fast server would keep everybody else waiting, and fill the memory.
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
