import { UPDATES } from "../protocol/routes.ts";
import type { StreamEnd, StreamFrame } from "./event-stream.ts";
import { send } from "./request.ts";
import type { ClientSettings, StreamOptions } from "./settings.ts";

interface PolledEvents {
  readonly events: readonly { readonly type: string; readonly sequence: number; readonly payload: unknown }[];
  readonly isTerminal: boolean;
  readonly lastSequence: number;
}

const ENDS = new Set(["run.completed", "run.failed", "run.cancelled"]);
const ENDED = new Set(["completed", "failed", "cancelled"]);

/** What a client knows of the stream of a run, at `/v1/runs/{runId}/events`: when it is over, and how to do without it. */
export function runStreamEnd(settings: ClientSettings, path: string, mode: string, options: StreamOptions): StreamEnd {
  const read = async <T>(at: string): Promise<T> => {
    const request = { method: "GET", path: at, accept: "application/json", keyed: false, streamed: false };
    return JSON.parse(await (await send(settings, request, options)).text());
  };
  const modes = mode.split(",").map((name) => name.trim());
  const readRun = () => read<{ readonly status: string }>(path.replace(/\/events$/, ""));
  return {
    isLast: ({ event, data }) =>
      ENDS.has(event) || (event === "state.snapshot" && ENDED.has((data as { status: string }).status)),
    isOver: async () => ENDED.has((await readRun()).status),
    async poll(lastId) {
      const answer = await read<PolledEvents>(`${path}/poll?lastSequence=${lastId ?? -1}`);
      const shown = answer.events.flatMap((event) => framesOf(event, modes));
      const id = String(answer.lastSequence);
      const changed = modes.includes("values") && answer.events.length > 0;
      if (changed) shown.push({ event: "state.snapshot", data: await readRun(), id });
      return { frames: shown, lastId: id, isOver: answer.isTerminal };
    },
  };
}

function framesOf(event: PolledEvents["events"][number], modes: readonly string[]): StreamFrame[] {
  const id = String(event.sequence);
  if (event.type === "output.chunk" && (modes.includes("messages") || modes.includes("debug"))) {
    return [{ event: "ai.message.chunk", data: event.payload, id }];
  }
  const isShown = modes.includes("debug") || (modes.includes("updates") && UPDATES.has(event.type));
  return isShown ? [{ event: event.type, data: event, id }] : [];
}
