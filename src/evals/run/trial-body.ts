import { toolError } from "../../agents/tool-surface.ts";
import type { Transcript, TranscriptCall } from "../../agents/transcript.ts";
import { usable } from "../../agents/usable-value.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import type { ToolCallBody } from "../../protocol/evals/eval-task-bodies.ts";
import type { Document, DocumentWrite } from "../../store/port/documents.ts";
import type { Store } from "../../store/port/store.ts";
import { cut } from "../score/difference.ts";
import type { EvalRun } from "./eval-run.ts";
import { KEPT_MAX, keptOutput } from "./kept-output.ts";

/** Calls of one trial that are kept; those after them are counted. */
const CALLS_MAX = 200;
const CALL_CHARACTERS = 200_000;

/** Reasoning and tool calls of one trial. Kept apart from its result, which is read whole for every report. */
export interface TrialBody {
  readonly invocationId: string;
  readonly reasoning?: string;
  readonly toolCalls: readonly ToolCallBody[];
  readonly toolCallsLeftOut?: number;
}

/** Writes down what one trial reasoned and called: scrubbed, and cut like outputs are. */
export class BodyRecorder implements Transcript {
  readonly #scrubber: Scrubber;
  readonly #calls: ToolCallBody[] = [];
  #reasoning = "";
  #characters = 0;
  #leftOut = 0;

  constructor(scrubber: Scrubber) {
    this.#scrubber = scrubber;
  }

  reasoned(text: string): void {
    if (this.#reasoning.length >= KEPT_MAX) return;
    this.#reasoning = cut(this.#reasoning === "" ? text : `${this.#reasoning}\n\n${text}`, KEPT_MAX);
  }

  called(call: TranscriptCall): void {
    if (this.#calls.length >= CALLS_MAX || this.#characters >= CALL_CHARACTERS) {
      this.#leftOut += 1;
      return;
    }
    const kept = this.#kept(call);
    this.#characters += JSON.stringify(kept).length;
    this.#calls.push(kept);
  }

  #kept({ tool, arguments: given, answer }: TranscriptCall): ToolCallBody {
    const args = usable(given);
    const scrubber = this.#scrubber;
    const kept = "problem" in args ? `not kept: it ${args.problem}` : keptOutput(args.value ?? null, scrubber);
    const asked = { tool: cut(scrubber.scrubText(tool), 256), arguments: kept };
    if (answer.status === "ok") return { ...asked, result: keptOutput(answer.outcome ?? null, scrubber) };
    const { code, message } = toolError(answer);
    return { ...asked, error: { code, message: scrubber.scrubText(cut(message, KEPT_MAX)) } };
  }

  /** Undefined where nothing was reasoned or called. */
  body(invocationId: string): TrialBody | undefined {
    if (this.#reasoning === "" && this.#calls.length === 0) return undefined;
    return {
      invocationId,
      ...(this.#reasoning === "" ? {} : { reasoning: this.#reasoning }),
      toolCalls: this.#calls,
      ...(this.#leftOut === 0 ? {} : { toolCallsLeftOut: this.#leftOut }),
    };
  }
}

function bodyPrefix(runId: string, taskId: string): string {
  return `${runId}/${taskId}/`;
}

export function bodyWrites({ host, owner, runId }: EvalRun, taskId: string, bodies: readonly TrialBody[]) {
  return bodies.map((body): DocumentWrite => {
    const document: Document = {
      tenant: owner.tenant,
      kind: "eval-body",
      key: `${bodyPrefix(runId, taskId)}${body.invocationId}`,
      runId,
      revision: 1,
      atMs: host.nowMs(),
      body: JSON.stringify(body),
    };
    return { type: "keep", document };
  });
}

const PAGE = 100;

/** Bodies of all trials of a task, by invocation. */
export async function readBodies(
  store: Pick<Store, "listDocuments">,
  tenant: string,
  runId: string,
  taskId: string,
): Promise<ReadonlyMap<string, TrialBody>> {
  const bodies = new Map<string, TrialBody>();
  for (let after: string | undefined; ; ) {
    const query = { prefix: bodyPrefix(runId, taskId), limit: PAGE, ...(after === undefined ? {} : { after }) };
    const page = await store.listDocuments(tenant, "eval-body", query);
    for (const { body } of page) {
      const kept = JSON.parse(body) as TrialBody;
      bodies.set(kept.invocationId, kept);
    }
    if (page.length < PAGE) return bodies;
    after = page.at(-1)?.key;
  }
}
