import type { FastifyInstance } from "fastify";
import { AppError } from "../../protocol/errors.ts";
import type { Config } from "../settings/settings.ts";

/** Opens the port and returns the address under which clients reach it. */
export async function listen(app: FastifyInstance, { host, port }: Config): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw new AppError("unusable_input", { problem: reasonOf(error as NodeJS.ErrnoException, host, port) });
  }
  const address = app.server.address();
  const actualPort = typeof address === "object" && address !== null ? address.port : port;
  return `http://${host.includes(":") ? `[${host}]` : host}:${actualPort}`;
}

function reasonOf({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  if (code === "EADDRINUSE")
    return `port ${port} on ${host} is in use; choose another with --port, or 0 for any free one`;
  if (code === "EACCES") return `this user may not listen on port ${port}; choose one above 1023 with --port`;
  return `it is not possible to listen on ${host}:${port}: ${message}`;
}

/** Whether only this machine can connect. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}
