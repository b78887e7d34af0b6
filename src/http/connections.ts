import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** The answer being given on a connection, if there is one. Node keeps it here and nowhere else. */
export function answerOn(socket: Socket): ServerResponse | undefined {
  return (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}

const SWEEP_MS = 50;

/**
 * Ends connections as soon as nothing is being answered on them, and all of them after `graceMs`. Node does so only
 * for those that are idle at the moment of `close()`, and only if they have ever carried a request: browsers open some
 * that never do.
 */
export function endConnections(server: Server): (graceMs: number) => void {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });

  return (graceMs) => {
    const sweep = setInterval(() => {
      for (const socket of sockets) if (answerOn(socket) === undefined) socket.destroy();
    }, SWEEP_MS);
    const end = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, graceMs);
    server.once("close", () => {
      clearInterval(sweep);
      clearTimeout(end);
    });
    // A server that never listened does not close either.
    sweep.unref();
    end.unref();
  };
}
