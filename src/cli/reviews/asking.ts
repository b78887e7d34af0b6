import { basename } from "node:path";
import type { Asking } from "../../reviews/requester/ask.ts";
import type { Conversation } from "../../reviews/requester/conversation.ts";
import type { Config } from "../settings/settings.ts";
import { carrierFor, isForkedBy, retriesOf } from "./provider.ts";

/** How a conversation talks to its provider. */
export function askingFor(
  { command: provider, directory, artifact }: Conversation,
  config: Config,
  signal: AbortSignal,
): Asking {
  const title = `Review of ${basename(artifact.path)}`;
  return {
    carrier: carrierFor({ provider, directory, title, config }),
    retries: retriesOf(config),
    forked: isForkedBy(provider),
    signal,
  };
}
