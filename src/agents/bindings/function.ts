import type { Binding } from "../binding.ts";
import { failed } from "./answers.ts";

/** An agent that is a function of the program that this library is part of. */
export type AgentFunction = (input: unknown, task: FunctionTask) => unknown;

export interface FunctionTask {
  readonly runId: string;
  /** The task of an evaluation, and which of its trials this is, from 1. */
  readonly taskId: string | undefined;
  readonly trial: number | undefined;
  /** Aborted when the answer is no longer waited for. */
  readonly signal: AbortSignal;
}

/** What it returns is the output; what it throws is a failure of the agent. A function cannot be ended: it may go on unheard. */
export function functionBinding(run: AgentFunction): Binding {
  return {
    // As opaque as a program: nobody can tell a changed one from the same one.
    kind: "command",
    noTools: "a function is offered no tools; let it call those that it needs itself",
    call: async ({ input, runId, taskId, trial, signal }) => {
      try {
        const output = await unlessAborted(signal, async () => run(input, { runId, taskId, trial, signal }));
        const text = JSON.stringify(output);
        if (text === undefined) return failed("agent_output_invalid", "the function returned nothing that is JSON");
        return { type: "completed", output: JSON.parse(text) };
      } catch (error) {
        signal.throwIfAborted();
        const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
        return failed("agent_crashed", message, false);
      }
    },
  };
}

function unlessAborted<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener("abort", stop);
    void run()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", stop));
  });
}
