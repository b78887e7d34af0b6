import { matches, Type } from "../../protocol/schema.ts";

export interface ChatAnswer {
  /** Empty when the model said nothing. */
  readonly text: string;
  /** Why it stopped, as the server says: `stop`, `length`, `content_filter`, … */
  readonly finish: string;
}

/** As much of a completion as is used here; servers add much of their own. */
const COMPLETION = Type.Object({
  choices: Type.Array(
    Type.Object({
      message: Type.Object({ content: Type.Optional(Type.Union([Type.String(), Type.Null()])) }),
      finish_reason: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    }),
    { minItems: 1 },
  ),
});

/** What a server of the chat-completions format answered; undefined for anything else. */
export function readCompletion(body: Uint8Array): ChatAnswer | undefined {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
  if (!matches(COMPLETION, value)) return undefined;
  const [first] = value.choices;
  return { text: first?.message.content ?? "", finish: first?.finish_reason ?? "stop" };
}
