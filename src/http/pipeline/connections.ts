import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** The answer being given on a connection, if there is one. Node keeps it here and nowhere else. */
export function answerOn(socket: Socket): ServerResponse | undefined {
  return (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}

const SWEEP_MS = 50;

/** How long a request may still arrive once the server closes: nothing of it has happened yet, so it can be sent elsewhere. */
const ARRIVAL_MS = 1000;

/**
 * Ends connections as soon as nothing is being answered on them, and all of them after `graceMs`. Node does so only
 * for those that are idle at the moment of `close()`, and only if they have ever carried a request: browsers open some
 * that never do. `refuse` answers a request that has not arrived in full after `ARRIVAL_MS`; then its connection ends.
 */
export function endConnections(server: Server, refuse: (socket: Socket) => void): (graceMs: number) => void {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });

  return (graceMs) => {
    const refused = new Set<Socket>();
    let patient = true;
    const arrival = setTimeout(() => {
      patient = false;
    }, ARRIVAL_MS);
    const sweep = setInterval(() => {
      for (const socket of sockets) {
        const answer = answerOn(socket);
        if (answer === undefined || refused.has(socket)) socket.destroy();
        else if (!patient && !answer.req.complete && !answer.headersSent) {
          refused.add(socket);
          refuse(socket);
        }
      }
    }, SWEEP_MS);
    const end = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, graceMs);
    server.once("close", () => {
      clearInterval(sweep);
      clearTimeout(arrival);
      clearTimeout(end);
    });
    // A server that never listened does not close either.
    sweep.unref();
    arrival.unref();
    end.unref();
  };
}
