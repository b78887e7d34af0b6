import type { ServerResponse } from "node:http";

/** Ends the connection when its reader takes nothing for `stallMs` of what waits for it. */
export function cutWhenStalled(response: ServerResponse, stallMs: number): void {
  // Node's timeout starts over with every write that makes progress, however little. A response with nothing waiting
  // is idle, not stalled, and is left alone.
  response.setTimeout(stallMs, () => {
    if (response.writableLength > 0) response.destroy();
  });
}
