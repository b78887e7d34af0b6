// @ts-check
import { check, closedLoop } from "./closed-loop.js";
import { requestBytes } from "./connection.js";

/**
 * Closed loop over several paths in turn: every connection posts the next as soon as it is answered.
 * @param {import("./closed-loop.js").Load & { paths: readonly string[], body: unknown, expect: number }} job
 * @returns {Promise<import("./closed-loop.js").Rate>}
 */
export async function postInTurn({ paths, body, expect, ...load }) {
  const requests = paths.map((path) => requestBytes("POST", path, load.key, body));
  let sent = 0;
  return closedLoop(load, async (connection) => {
    const bytes = /** @type {string} */ (requests[sent++ % requests.length]);
    check(await connection.send(bytes), expect);
  });
}
