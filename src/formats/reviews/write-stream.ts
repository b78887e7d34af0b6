/** Facts that a provider needs to write its answer in the form of the command that it replaces. */
export interface StreamIds {
  readonly sessionID: string;
  readonly messageID: string;
  /** Three, ascending. */
  readonly partIDs: readonly [string, string, string];
}

export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cost: number;
}

/** The three lines that carry an answer, each with its LF. The answer is JSON text without line breaks. */
export function answerStream(answer: string, ids: StreamIds, atMs: number, usage: Usage): string {
  const { sessionID, messageID, partIDs } = ids;
  const { input, output, cost } = usage;
  const line = (type: string, part: object) => `${JSON.stringify({ type, timestamp: atMs, sessionID, part })}\n`;
  const common = { messageID, sessionID };
  const tokens = { total: input + output, input, output, reasoning: 0, cache: { read: 0, write: 0 } };
  return [
    line("step_start", { id: partIDs[0], ...common, type: "step-start" }),
    line("text", { id: partIDs[1], ...common, type: "text", text: answer, time: { start: atMs, end: atMs } }),
    line("step_finish", { id: partIDs[2], reason: "stop", ...common, type: "step-finish", tokens, cost }),
  ].join("");
}

/** A failure below the protocol, as the command reports it. */
export function errorLine(sessionID: string | undefined, name: string, message: string, atMs: number): string {
  const session = sessionID === undefined ? {} : { sessionID };
  return `${JSON.stringify({ type: "error", timestamp: atMs, ...session, error: { name, data: { message } } })}\n`;
}
