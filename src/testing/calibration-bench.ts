import { expect } from "vitest";
import { scoredEvents } from "../evals/override/score-judgments.ts";
import type { AgentEvalSuite, EvalTask } from "../protocol/evals/eval-suite.ts";
import { CertificateView } from "../protocol/evals/judge-certificate-api.ts";
import { isTerminal, type RunStatus } from "../protocol/runs/run-status.ts";
import { parse } from "../protocol/schema.ts";
import type { Store } from "../store/port/store.ts";
import { agentOf, agentsOf, suiteOf } from "./eval-bench.ts";
import { type EvalServer, evalServer } from "./eval-server.ts";
import { eventually } from "./eventually.ts";
import type { Who } from "./host.ts";
import { type LexicalJudge, lexicalJudge } from "./lexical-judge.ts";

export const CERTIFICATES = "/v1/host/assay/judge-certificates";

export function judgedTask(taskId: string, input: string, criterion = "please"): EvalTask {
  return { taskId, input, expected: { kind: "rubric", rubric: [{ criterion, weight: 1 }] } };
}

export function judgedSuite(name: string, tasks: readonly EvalTask[], version = "1.0.0"): AgentEvalSuite {
  return suiteOf(tasks, { suiteId: `local.test.evals.${name}`, version, modes: ["rubric"] });
}

/** Outputs are the inputs; every other one says please. */
export function politeSuite(name: string, tasks = 60): AgentEvalSuite {
  const asked = Array.from({ length: tasks }, (_, i) => judgedTask(`t${i}`, `${i % 2 === 0 ? "please" : "now"} ${i}`));
  return judgedSuite(name, asked);
}

export const refOf = ({ suiteId, version }: AgentEvalSuite): string => `${suiteId}@${version}`;

export const label = (what: string) => ({ kind: "label", label: what });

interface EndedRun {
  readonly status: RunStatus;
  readonly outputs?: { readonly certificateId: string };
  readonly error?: { readonly code: string };
}

/** A host whose agent answers what it is given and whose judge looks for words, and what people do with it over HTTP. */
export class CalibrationBench {
  readonly host: EvalServer;
  readonly judge: LexicalJudge;

  private constructor(host: EvalServer, judge: LexicalJudge) {
    this.host = host;
    this.judge = judge;
  }

  static async on(store: Store, judge: LexicalJudge = lexicalJudge()): Promise<CalibrationBench> {
    const agents = agentsOf([agentOf()], ({ input }) => ({ type: "completed", output: input }));
    return new CalibrationBench(await evalServer(store, { agents, judge: judge.judge }), judge);
  }

  async eventsOf(runId: string): Promise<Map<string, string>> {
    return new Map((await scoredEvents(this.host.store, runId)).map(({ taskId, eventId }) => [taskId, eventId]));
  }

  /** The id of the annotation. */
  async say(runId: string, target: object, signal: object, note?: string): Promise<string> {
    const json = { target, signal, ...(note === undefined ? {} : { note }) };
    const answer = await this.host.ask("POST", `/v1/runs/${runId}/annotations`, { json });
    expect(answer.statusCode, answer.payload).toBe(201);
    return answer.json().annotationId;
  }

  /** Labels all tasks of a polite suite as the judge will, but for the first few. */
  async labelled(runId: string, differing: number, note?: string): Promise<void> {
    for (const [taskId, eventId] of await this.eventsOf(runId)) {
      const i = Number(taskId.slice(1));
      const truth = (i % 2 === 0) === i >= differing ? "pass" : "fail";
      await this.say(runId, { eventId }, label(truth), note);
    }
  }

  calibrate(json: object, as: Who = "owner") {
    return this.host.ask("POST", CERTIFICATES, { json, as });
  }

  async calibrated(json: object): Promise<EndedRun> {
    const answer = await this.calibrate(json);
    expect(answer.statusCode, answer.payload).toBe(201);
    const { runId } = answer.json();
    let run: EndedRun | undefined;
    await eventually(async () => {
      run = (await this.host.ask("GET", `/v1/runs/${runId}`)).json<EndedRun>();
      if (!isTerminal(run.status)) throw new Error(run.status);
    });
    return run as EndedRun;
  }

  async certified(json: object): Promise<CertificateView> {
    const run = await this.calibrated(json);
    expect(run.outputs, JSON.stringify(run)).toBeDefined();
    const answer = await this.host.ask("GET", `${CERTIFICATES}/${run.outputs?.certificateId}`);
    return parse(CertificateView, answer.json(), "certificate");
  }

  start(suite: AgentEvalSuite, configurable: object) {
    return this.host.start({ evalSuiteRef: refOf(suite), configurable });
  }
}
