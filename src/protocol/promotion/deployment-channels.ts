/** Channels a version can be put on. */
export const CHANNELS = ["stable", "canary"] as const;
/** The highest active version, whatever channels it is on; nothing is put there. */
export const LATEST = "latest";
export const RESOLVED_CHANNELS: readonly string[] = [...CHANNELS, LATEST];
