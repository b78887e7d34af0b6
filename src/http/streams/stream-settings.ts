/** What event streams and long polls may take. Every value is a setting of the host. */
export interface StreamSettings {
  /** Bytes that may wait for a connection in this process's memory before it is fed from the store instead. */
  readonly bufferedBytesMax: number;
  /** How long a connection may take nothing of what waits for it before it is cut. It can resume by Last-Event-ID. */
  readonly stallMs: number;
  /** How often a followed run is read although nobody said that it changed: what a lost notification costs at most. */
  readonly rereadMs: number;
  /** The same for a live inbox, which is then read as a whole: what is open in a tenant. */
  readonly inboxRereadMs: number;
  /** The protocol asks for a sign of life at least every 30 s. */
  readonly keepAliveMs: number;
  readonly streamsMax: number;
}

export const STREAM_DEFAULTS: StreamSettings = {
  bufferedBytesMax: 1024 * 1024,
  stallMs: 60_000,
  rereadMs: 5_000,
  inboxRereadMs: 30_000,
  keepAliveMs: 15_000,
  streamsMax: 4096,
};
