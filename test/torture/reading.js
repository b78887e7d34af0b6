// @ts-check

const readersAtOnce = 16;

/**
 * @param {import("./client.js").Client} client
 * @param {string} key
 * @param {string} path
 * @param {Record<string, string>} headers
 */
export async function get(client, key, path, headers = {}) {
  const answer = await client.ask({ method: "GET", path, key, headers });
  if (answer.status === 200) return answer.json;
  client.journal.violation("a read was refused", { path, status: answer.status, text: answer.text.slice(0, 500) });
  return { runs: [], events: [], entries: [], deliveries: [] };
}

/**
 * @template T
 * @param {readonly T[]} items
 * @param {(item: T) => Promise<void>} deed
 */
export async function inParallel(items, deed) {
  const queue = items[Symbol.iterator]();
  const work = async () => {
    for (const item of queue) await deed(item);
  };
  await Promise.all(Array.from({ length: readersAtOnce }, work));
}
