// @ts-check
// What Node alone can do, to compare with: POST answers 201 with a fixed body, and writes `text` of the body to every
// connection that sent a GET to the same path.
import { createServer } from "node:http";

/** @type {Map<string, Set<import("node:http").ServerResponse>>} */
const streams = new Map();
const answer = JSON.stringify({ runId: `run-${"0".repeat(26)}`, status: "pending", eventsUrl: "/", statusUrl: "/" });

const server = createServer((request, response) => {
  const path = request.url ?? "";
  if (request.method === "GET") {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    response.write("event: open\n\n");
    const here = streams.get(path) ?? new Set();
    streams.set(path, here.add(response));
    response.on("close", () => {
      here.delete(response);
      if (here.size === 0) streams.delete(path);
    });
    return;
  }
  /** @type {Buffer[]} */
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const { text } = JSON.parse(Buffer.concat(chunks).toString());
    if (text !== undefined) for (const stream of streams.get(path) ?? []) stream.write(text);
    response.writeHead(201, { "content-type": "application/json", "content-length": answer.length });
    response.end(answer);
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` }));
});
