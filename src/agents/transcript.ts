import type { EventDraft } from "../protocol/events.ts";
import { Reasoning, type Speaker } from "./message-stream.ts";
import type { ToolResult, ToolSurface } from "./tool-surface.ts";

/** Receives the bodies of one invocation in order, where the log gets none of them. Reasoning arrives scrubbed; tool calls as they were. */
export interface Transcript {
  reasoned(text: string): void;
  called(call: TranscriptCall): void;
}

export interface TranscriptCall {
  readonly tool: string;
  readonly arguments: unknown;
  readonly answer: ToolResult;
}

/** Reasoning for the transcript, as much of it as the verbosity allows. */
export function transcribedReasoning(transcript: Transcript, speaker: Speaker): Reasoning {
  const emit = ({ type, payload }: EventDraft) => {
    if (type !== "agent.reasoned") return;
    const { reasoning, superseded } = payload as { readonly reasoning: string; readonly superseded?: true };
    // A call that broke off is made again, and its reasoning comes again.
    if (reasoning !== "" && superseded !== true) transcript.reasoned(reasoning);
  };
  return new Reasoning({ ...speaker, content: true, emit });
}

/** The same tools; each call is recorded in the transcript, also a refused one. */
export function transcribedTools(surface: ToolSurface, transcript: Transcript | undefined): ToolSurface {
  if (transcript === undefined) return surface;
  return {
    tools: surface.tools,
    restart: () => surface.restart?.(),
    async call(tool, given, signal) {
      const answer = await surface.call(tool, given, signal);
      transcript.called({ tool, arguments: given, answer });
      return answer;
    },
  };
}
