import { afterAll, beforeAll, expect, test } from "vitest";
import type { Deployments } from "../../../src/agents/deployments/deployments.ts";
import { readDeployments } from "../../../src/agents/deployments/stored-deployments.ts";
import type { DeploymentTransition, PromotionRules } from "../../../src/protocol/promotion/api.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { DeploymentBench } from "../../../src/testing/deployment-bench.ts";
import { type Move, randomFrom, randomMoves } from "../../../src/testing/random-transitions.ts";
import { ServiceModel } from "../../../src/testing/service-model.ts";
import { beyond, type Shown, shownFor, stepOf } from "../../../src/testing/shown-to-people.ts";

/** `ASSAY_TRANSITION_HTTP_CASES=500` for the long form. */
const CASES = Number(process.env["ASSAY_TRANSITION_HTTP_CASES"] ?? 12);
const FIRST = Number(process.env["ASSAY_TRANSITION_SEED"] ?? 1);
const MOVES = 60;
const TIMEOUT_MS = 60_000 + 2_000 * CASES;
const RULE = { gate: { requiredRole: "reviewer" } };

type Headers = Readonly<Record<string, string>>;

let bench: DeploymentBench;
let people: readonly Headers[];
beforeAll(async () => {
  bench = await DeploymentBench.on(await openSqliteStore({ path: ":memory:" }));
  people = [{}, await keyOf("carl"), await keyOf("dora")];
});
afterAll(() => bench.host.close());

async function keyOf(principal: string): Promise<Headers> {
  const made = await bench.host.ask("POST", "/v1/host/assay/keys", { json: { principal, roles: ["owner"] } });
  return { authorization: `Bearer ${made.json().key}` };
}

interface Asked {
  readonly shown: Shown;
  readonly about: string;
  readonly voters: Set<number>;
}

/** One agent on a whole host, and the model beside it. */
class Case {
  readonly wrong: string[] = [];
  readonly applied = { all: 0, byPeople: 0 };
  readonly #agent: DeploymentBench;
  readonly #model = new ServiceModel();
  /** By run. */
  readonly #asked = new Map<string, Asked>();
  /** By step, whoever has sent a request about it while people were asked. */
  readonly #askers = new Map<string, Set<number>>();
  #asks: readonly string[] = [];

  constructor(name: string) {
    this.#agent = bench.about(name);
  }

  async play(moves: readonly Move[]): Promise<this> {
    for (const move of moves) {
      if (move.type === "policy") await this.#policy(move.asks);
      if (move.type === "vote") await this.#vote(move);
      if (move.type === "send") await this.#send(move.request, move.by);
    }
    return this;
  }

  async #policy(asks: readonly string[]): Promise<void> {
    this.#asks = asks;
    const rules = (steps: readonly string[]) => Object.fromEntries(steps.map((step) => [step, RULE]));
    const promotions = asks.filter((step) => ["test", "staged", "active"].includes(step));
    const others = asks.filter((step) => !promotions.includes(step));
    await this.#agent.policy({ promote: rules(promotions), ...rules(others) } as PromotionRules);
  }

  async #vote({ pick, by, grants }: Extract<Move, { type: "vote" }>): Promise<void> {
    const runId = [...this.#asked.keys()].at(-1 - (pick % Math.max(1, this.#asked.size)));
    if (runId === undefined) return;
    const json = { resumeValue: { decision: grants ? "granted" : "rejected" } };
    const url = `/v1/runs/${runId}/interrupts/gate-${runId}`;
    const voted = await bench.host.ask("POST", url, { json, headers: people[by] ?? {} });
    if (voted.statusCode === 200 && grants) this.#asked.get(runId)?.voters.add(by);
  }

  async #send(request: DeploymentTransition, by: number): Promise<void> {
    const before = await this.#now();
    const answered = await this.#agent.send(request, "owner", people[by] ?? {});
    const body = answered.json();
    const about = JSON.stringify([request.transition, request.version, request.toState]);
    if (answered.statusCode === 200) {
      if (this.#asks.includes(stepOf(request))) this.#needsYes(before, request, by, about, body.approvalGateId);
      this.applied.all += 1;
      this.wrong.push(...this.#model.check({ before, request, after: await this.#now() }));
      return;
    }
    expect([400, 403, 409], answered.payload).toContain(answered.statusCode);
    const runId: string | undefined = body.details?.waiting ? body.details.runId : undefined;
    if (runId === undefined) return;
    this.#askers.set(about, (this.#askers.get(about) ?? new Set()).add(by));
    if (this.#asked.has(runId)) return;
    this.#asked.set(runId, { shown: this.#shown(before, request), about, voters: new Set() });
  }

  #needsYes(
    now: Deployments,
    request: DeploymentTransition,
    by: number,
    about: string,
    gateId: string | undefined,
  ): void {
    const asked = this.#asked.get(String(gateId).slice("gate-".length));
    if (asked === undefined) this.wrong.push(`${about} came about and nobody was asked`);
    else this.wrong.push(...beyond(asked.shown, this.#shown(now, request)), ...this.#votersOf(asked, by, about));
    this.#asked.delete(String(gateId).slice("gate-".length));
    this.applied.byPeople += 1;
  }

  #votersOf({ voters, about: was }: Asked, by: number, about: string): string[] {
    const own = [...voters].filter((voter) => voter === by || this.#askers.get(about)?.has(voter));
    if (was !== about || voters.size === 0) return [`${about} came about without a yes`];
    return own.length === 0 ? [] : [`${about} was approved by those who asked: ${own}`];
  }

  #shown(now: Deployments, request: DeploymentTransition): Shown {
    const agentHash = now.versions[request.version]?.agentHash ?? "none yet";
    return shownFor({ now, request, agentHash, rule: RULE });
  }

  async #now(): Promise<Deployments> {
    return (await readDeployments(bench.host.store, { tenant: "t1" }, this.#agent.agentId, {})).now;
  }
}

test(
  "a host lets nothing serve more than a transition named and people let pass, whoever sends, votes and applies when",
  async () => {
    const applied = { all: 0, byPeople: 0 };
    for (let seed = FIRST; seed < FIRST + CASES; seed++) {
      const one = await new Case(`random-${seed}`).play(randomMoves(randomFrom(seed), MOVES));
      expect(one.wrong, `seed ${seed}`).toEqual([]);
      applied.all += one.applied.all;
      applied.byPeople += one.applied.byPeople;
    }
    expect(applied.all).toBeGreaterThan(10 * CASES);
    expect(applied.byPeople).toBeGreaterThan(CASES / 2);
  },
  TIMEOUT_MS,
);
