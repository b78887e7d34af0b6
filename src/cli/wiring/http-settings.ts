import type { HttpSettings } from "../../http/pipeline/deps.ts";
import type { StreamSettings } from "../../http/streams/stream-room.ts";
import type { Config } from "../settings/settings.ts";

export function httpSettings(config: Config): HttpSettings {
  return {
    ...(config.publicUrl === undefined ? {} : { publicUrl: config.publicUrl }),
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
