import { isUtf8 } from "node:buffer";
import { callOut, type OutboundAnswer } from "../../engine/outbound/call-out.ts";
import { type Guard, problemOf } from "../../engine/outbound/guard.ts";
import { parsedJson } from "../../formats/json/check-json.ts";
import { sha256 } from "../../formats/text/sha256.ts";
import { defined } from "../../protocol/defined.ts";
import { matches, Type } from "../../protocol/schema.ts";
import type { AgentAnswer, AgentTask, Binding, Watcher } from "../binding.ts";
import { type ToolAccess, type ToolGateway, toolsProblem, withTools } from "../gateway/tool-gateway.ts";
import { withoutToken } from "../gateway/tool-offer.ts";
import {
  type Attempt,
  RETRY_DEFAULTS,
  type RetrySettings,
  type RetryWorld,
  retrying,
  withinTime,
} from "../retrying.ts";
import { failed, tooSlow, withOutput } from "./answers.ts";
import { readReport } from "./reported-usage.ts";

export interface HttpSettings extends RetrySettings {
  readonly url: string;
  /** Headers in addition to those of every call; may hold keys. */
  readonly headers: Readonly<Record<string, string>>;
  /** The limit of one call with all its attempts. */
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  /** Names what answers there, for those who want to take its earlier results again. */
  readonly version?: string | undefined;
}

export const HTTP_DEFAULTS = { ...RETRY_DEFAULTS, timeoutMs: 120_000, maxOutputBytes: 1024 * 1024 } as const;

export interface HttpWorld extends RetryWorld {
  readonly scrubText: (text: string) => string;
}

/** An agent behind a URL. It is posted the task as JSON and answers with JSON. */
export function httpBinding(settings: HttpSettings, guard: Guard, world: HttpWorld, gateway?: ToolGateway): Binding {
  const { url, version } = settings;
  const host = new URL(url).host;
  return {
    kind: "http",
    provider: "http",
    model: host,
    ...(version === undefined ? {} : { fingerprint: `http:${sha256(JSON.stringify({ url, version }))}` }),
    ...toolsProblem(gateway, url),
    call: async (task, watch) => {
      const problem = problemOf(guard, new URL(url));
      if (problem !== undefined) return failed("agent_not_configured", `${host} may not be called: ${problem}`);
      const asked = (access: ToolAccess) => {
        const attempts = (signal: AbortSignal) =>
          retrying(settings, world, signal, async (count) => {
            // An endpoint that failed after it asked its tools begins anew, and finds what it found before.
            if (count > 1) task.tools.restart?.();
            const answer = await callOut(guard, callFor(settings, task, access, signal));
            signal.throwIfAborted();
            return judged(masked(answer, access), settings, host, (body) =>
              readHttpAnswer(body, host, watch, world.scrubText),
            );
          });
        return withinTime(settings.timeoutMs, task.signal, attempts, () => tooSlow(settings.timeoutMs));
      };
      return withTools(gateway, task, asked, url);
    },
  };
}

/** The answer without the token, wherever the endpoint repeats it. */
function masked(answer: OutboundAnswer, access: ToolAccess): OutboundAnswer {
  if (access === undefined || "failure" in answer || !answer.body.includes(access.token)) return answer;
  return { ...answer, body: Buffer.from(withoutToken(answer.body.toString("utf8"), access.token)) };
}
function callFor(
  { url, headers, timeoutMs, maxOutputBytes }: HttpSettings,
  task: AgentTask,
  access: ToolAccess,
  signal: AbortSignal,
) {
  return {
    url,
    headers: {
      "user-agent": "assay",
      accept: "application/json",
      ...headers,
      "content-type": "application/json",
      // Endpoints recognize a repeated request for the same task by this key.
      "idempotency-key": task.invocationId,
    },
    body: JSON.stringify(bodyOf(task, access)),
    timeoutMs,
    maxAnswerBytes: maxOutputBytes,
    signal,
  };
}

function bodyOf(task: AgentTask, access: ToolAccess) {
  const { input, runId, invocationId, taskId, trial, systemPrompt, returnSchema, memory } = task;
  return {
    input: input ?? null,
    runId,
    invocationId,
    taskId,
    trial,
    systemPrompt,
    returnSchema,
    ...(memory.length === 0 ? {} : { memory }),
    ...(access === undefined ? {} : { tools: { url: access.url, token: access.token } }),
  };
}

function judged(
  answer: OutboundAnswer,
  { maxOutputBytes }: HttpSettings,
  host: string,
  read: (body: Buffer) => AgentAnswer,
): Attempt<AgentAnswer> {
  if ("failure" in answer) {
    return { again: true, last: failed("agent_unreachable", `${host} cannot be reached: ${answer.failure}`) };
  }
  const { status, body, cut, retryAfter } = answer;
  const problem = `${host} answered ${status}`;
  if (status === 429) return { again: true, retryAfter, last: failed("agent_rate_limited", problem) };
  if (status === 408 || status >= 500) return { again: true, retryAfter, last: failed("agent_unreachable", problem) };
  if (status < 200 || status > 299) return { done: failed("agent_error", problem) };
  if (cut && body.length >= maxOutputBytes) {
    return { done: failed("agent_output_too_large", `${host} answered with more than ${maxOutputBytes} bytes`) };
  }
  if (cut) return { again: true, last: failed("agent_unreachable", `the answer of ${host} broke off`) };
  return { done: read(body) };
}

/**
 * An answer with more than its output. Closed: whatever has another member is an output itself, so that an agent whose outputs have a
 * member called `output` is not misread because of it.
 */
const ENVELOPE = Type.Object(
  {
    output: Type.Unknown(),
    confidence: Type.Optional(Type.Unknown()),
    usage: Type.Optional(Type.Unknown()),
    costUsd: Type.Optional(Type.Unknown()),
    provider: Type.Optional(Type.Unknown()),
    model: Type.Optional(Type.Unknown()),
    handoff: Type.Optional(
      Type.Object(
        { toAgentId: Type.String({ minLength: 3, maxLength: 256 }), reason: Type.Optional(Type.String()) },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

const REFUSAL = Type.Object({ refused: Type.String({ minLength: 1 }) }, { additionalProperties: false });

/** Reads the answer of an endpoint. Its reported usage counts also when the answer is invalid. */
function readHttpAnswer(body: Buffer, host: string, watch: Watcher, scrubText: (text: string) => string): AgentAnswer {
  const value = isUtf8(body) ? parsedJson(body.toString("utf8").replace(/^\ufeff/, "")) : undefined;
  if (value === undefined) return failed("agent_output_invalid", `what ${host} answered is not JSON`);
  if (matches(REFUSAL, value)) return { type: "refused", reason: value.refused };
  if (!matches(ENVELOPE, value)) return withOutput(value);
  const { output, handoff, ...rest } = value;
  const read = readReport(rest, { provider: "http", model: host }, scrubText);
  if (!read.ok) return failed("agent_output_invalid", `what ${host} answered cannot be used: ${read.problem}`);
  const { usage, confidence } = read.report;
  if (usage !== undefined) watch.usage(usage);
  return withOutput(output, defined({ confidence, handoff }));
}
