import type { FastifyInstance } from "fastify";
import type { HttpSettings } from "../../http/pipeline/deps.ts";
import type { StreamSettings } from "../../http/streams/stream-room.ts";
import { defined } from "../../protocol/defined.ts";
import { unusableInput } from "../../protocol/errors.ts";
import type { Config } from "../settings/settings.ts";

/** Opens the port and returns the address under which clients reach it. */
export async function listen(app: FastifyInstance, { host, port }: Config): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw unusableInput(reasonOf(error as NodeJS.ErrnoException, host, port));
  }
  const address = app.server.address();
  const actualPort = typeof address === "object" && address !== null ? address.port : port;
  return `http://${host.includes(":") ? `[${host}]` : host}:${actualPort}`;
}

function reasonOf({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  if (code === "EADDRINUSE")
    return `port ${port} on ${host} is in use; choose another with --port, or 0 for any free one`;
  if (code === "EACCES") return `this user may not listen on port ${port}; choose one above 1023 with --port`;
  return `cannot listen on ${host}:${port}: ${message}`;
}

/** Whether an address is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}

export function httpSettings(config: Config): HttpSettings {
  return {
    ...defined({ publicUrl: config.publicUrl }),
    maxRequestBodyBytes: config.maxRequestBodyBytes,
    maxTapeBytes: config.maxTapeBytes,
    maxReviewBytes: config.maxReviewBytes,
    maxPackBytes: config.maxPackBytes,
    maxJsonDepth: config.maxJsonDepth,
    maxJsonElements: config.maxJsonElements,
    rateLimit: config.rateLimit,
    maxConnections: config.maxConnections,
    maxHeaderBytes: config.maxHeaderBytes,
    headersTimeoutMs: config.headersTimeoutMs,
    requestTimeoutMs: config.requestTimeoutMs,
    idleConnectionMs: config.idleConnectionMs,
    shutdownGraceMs: config.shutdownGraceMs,
  };
}

export function streamSettings(config: Config): Partial<StreamSettings> {
  return {
    bufferedBytesMax: config.streamBufferBytes,
    stallMs: config.streamStallMs,
    keepAliveMs: config.keepAliveMs,
    streamsMax: config.maxStreams,
  };
}
