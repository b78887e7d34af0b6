/** Passes at most this many bytes, and fails with `tooMany` at the next one. */
export function limitedBytes(maxBytes: number, tooMany: () => Error): TransformStream<Uint8Array, Uint8Array> {
  let left = maxBytes;
  return new TransformStream({
    transform(chunk, controller) {
      left -= chunk.length;
      if (left >= 0) controller.enqueue(chunk);
      else controller.error(tooMany());
    },
  });
}
