import { expect, test } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import type { DeploymentTransition } from "../../protocol/promotion/api.ts";
import { fewest, type Move, randomFrom, randomMoves } from "../../testing/random-transitions.ts";
import { SERVED, sharesOn, stateIn } from "../../testing/served-shares.ts";
import { ServiceModel } from "../../testing/service-model.ts";
import { beyond, type Sent, type Shown, shownFor, stepOf } from "../../testing/shown-to-people.ts";
import { digestOf } from "./ask-people.ts";
import { decideTransition } from "./decide-transition.ts";
import { drawVersion } from "./deployed-channels.ts";
import { type Deployments, noDeployments } from "./deployments.ts";

/** `ASSAY_TRANSITION_CASES=200000` for the long form, `ASSAY_TRANSITION_SEED` for other cases. */
const CASES = Number(process.env["ASSAY_TRANSITION_CASES"] ?? 3000);
const FIRST = Number(process.env["ASSAY_TRANSITION_SEED"] ?? 1);
const MOVES = 45;
const TIMEOUT_MS = 60_000 + 20 * CASES;

interface Asked extends Shown {
  granted?: boolean;
}

/** One host without its shell: what is stored, who was asked, and the model beside it. */
class Case {
  now: Deployments = noDeployments("local.test.echo");
  applied = 0;
  byPeople = 0;
  readonly wrong: string[] = [];
  readonly #model = new ServiceModel();
  readonly #asked = new Map<string, Asked>();
  readonly #installed = new Map<string, number>();
  #asks: readonly string[] = [];

  play(moves: readonly Move[]): this {
    for (const move of moves) if (this.wrong.length === 0) this.#move(move);
    return this;
  }

  #move(move: Move): void {
    if (move.type === "policy") this.#asks = move.asks;
    if (move.type === "install") this.#installed.set(move.version, (this.#installed.get(move.version) ?? 0) + 1);
    if (move.type === "vote") this.#vote(move);
    if (move.type === "send") this.#send(move.request);
  }

  #vote({ pick, grants }: Extract<Move, { type: "vote" }>): void {
    const open = [...this.#asked.values()].filter(({ granted }) => granted === undefined);
    const one = open.at(-1 - (pick % Math.max(1, open.length)));
    if (one !== undefined) one.granted = grants;
  }

  #send(request: DeploymentTransition): void {
    const agentHash = String(this.#installed.get(request.version) ?? 0).padStart(64, "a");
    const after = this.#decided(request, agentHash);
    if (after === undefined) return;
    const step = { before: this.now, request, after };
    const rule = this.#asks.includes(stepOf(request)) ? { gate: { requiredRole: "reviewer" } } : {};
    if (rule.gate !== undefined && !this.#mayApply({ now: this.now, request, agentHash, rule })) return;
    this.applied += 1;
    this.wrong.push(...this.#model.check(step));
    this.now = after;
    this.#draw();
  }

  #decided(request: DeploymentTransition, agentHash: string): Deployments | undefined {
    try {
      return decideTransition(this.now, request, { agentHash }).next;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "validation_error") throw error;
      const isRefusedPause = request.transition === "pause" && stateIn(this.now, request.version) === "active";
      if (isRefusedPause) this.wrong.push(`pause was refused: ${error.details["problem"]}`);
      return undefined;
    }
  }

  /** As the shell asks: by the digest of the question, and a yes counts once. */
  #mayApply(sent: Sent): boolean {
    const [digest, shown] = [digestOf(sent), shownFor(sent)];
    const asked = this.#asked.get(digest);
    if (asked === undefined) this.#asked.set(digest, { ...shown });
    if (asked?.granted === undefined) return false;
    this.#asked.delete(digest);
    if (!asked.granted) return false;
    this.byPeople += 1;
    this.wrong.push(...beyond(asked, shown));
    return true;
  }

  /** Nobody is drawn but who has a share. */
  #draw(): void {
    for (const channel of SERVED) {
      const drawn = drawVersion(this.now, channel, `run-${this.applied}`);
      const share = drawn === undefined ? 1 : (sharesOn(this.now, channel).get(drawn) ?? 0);
      if (share === 0) this.wrong.push(`${drawn} is drawn on ${channel} without a share`);
    }
  }
}

/** The rest of each message is of the case; what is before it says which rule it is. */
function kindOf(text: string): string {
  return text.replace(/\d+(\.\d+)*/g, "N").replace(/stable|canary/g, "C");
}

test(
  "nothing serves more than a transition named and people let pass, and nobody vanishes, whatever happens in which order",
  () => {
    let [applied, byPeople] = [0, 0];
    const found = new Map<string, string>();
    for (let seed = FIRST; seed < FIRST + CASES && found.size < 5; seed++) {
      const next = randomFrom(seed);
      const moves = randomMoves(next, MOVES);
      const one = new Case().play(moves);
      applied += one.applied;
      byPeople += one.byPeople;
      const [wrong] = one.wrong;
      if (wrong === undefined || found.has(kindOf(wrong))) continue;
      const least = fewest(moves, (some) => new Case().play(some).wrong.some((text) => kindOf(text) === kindOf(wrong)));
      const told = [`seed ${seed}`, ...least.map((move) => JSON.stringify(move)), ...new Case().play(least).wrong];
      found.set(kindOf(wrong), told.join("\n"));
    }
    expect([...found.values()].join("\n\n")).toBe("");
    // The test is about something: transitions come about, also those that people were asked about.
    expect(applied).toBeGreaterThan(10 * CASES);
    expect(byPeople).toBeGreaterThan(CASES / 2);
  },
  TIMEOUT_MS,
);
