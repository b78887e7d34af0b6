// @ts-check
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { DECISIONS, WORK } from "./script.js";
import { brokenFiles } from "./verify.js";

const bin = fileURLToPath(new URL("../../../bin/assay.js", import.meta.url));
/** Far more than a conversation needs, however often it is disturbed. */
const STEPS_MAX = 200;

/**
 * @typedef {import("../../torture/random.js").Random} Random
 * @typedef {"nobody" | "requester" | "provider" | "both"} Victim
 */

/** A scripted conversation between a real requester and a real provider, of which either may be killed at any moment. */
export class Talk {
  #random;
  #disasters;
  /** How long a turn takes that nobody disturbs, as far as that is known. */
  #turnMs = 600;
  /** @type {Record<Exclude<Victim, "nobody">, number>} */
  kills = { requester: 0, provider: 0, both: 0 };
  /** @type {string[]} */
  complaints = [];

  /**
   * @param {string} folder an empty one
   * @param {Random} random
   * @param {number} disasters after so many it is left in peace
   */
  constructor(folder, random, disasters) {
    this.folder = folder;
    this.reviews = join(folder, "reviews");
    this.sessions = join(folder, "sessions");
    this.work = join(folder, "plan.txt");
    this.#random = random;
    this.#disasters = disasters;
    mkdirSync(this.sessions);
  }

  /** To its end, which is always the same. */
  async hold() {
    for (let step = 0; step < STEPS_MAX; step++) {
      this.complaints.push(...brokenFiles(this.folder));
      const state = this.state();
      if (this.complaints.length > 0) return;
      if (state?.status === "converged") return this.#comeBack(state);
      await this.#step(state);
    }
    this.complaints.push(`the conversation came to no end in ${STEPS_MAX} steps`);
  }

  /** The folder of the review; undefined until there is one with a state. */
  get review() {
    const names = existing(this.reviews).filter((name) => existing(join(this.reviews, name)).includes("state.json"));
    return names.length === 0 ? undefined : join(this.reviews, /** @type {string} */ (names[0]));
  }

  state() {
    return this.review === undefined ? undefined : JSON.parse(readFileSync(join(this.review, "state.json"), "utf8"));
  }

  /** @param {any} state */
  async #step(state) {
    if (state === undefined) {
      writeFileSync(this.work, WORK[0] ?? "");
      const provider = [bin, "review", "provide", "--state", this.sessions].map((arg) => `--arg=${arg}`);
      return this.#turn(["start", this.work, "--command", process.execPath, ...provider]);
    }
    const turn = state.next_iteration;
    const open = state.remarks.filter((/** @type {any} */ { id, iterations }) => {
      return iterations.includes(turn - 1) && state.decisions[id]?.iteration !== turn;
    });
    for (const { id } of open) {
      const [, ...decision] = DECISIONS.find(([word]) => id.includes(word)) ?? [];
      await this.#command(["decide", state.review, id, ...decision], this.#random.chance(0.2) ? "requester" : "nobody");
    }
    if (open.length > 0) return;
    const next = ["next", state.review, ...(state.status === "failed" ? ["--reopen"] : [])];
    if (this.#isUnanswered()) {
      // What was sent before the crash is sent again, whatever has become of the work since.
      writeFileSync(this.work, "Changed meanwhile.\n");
      return this.#turn(next);
    }
    writeFileSync(this.work, WORK[turn - 1] ?? "");
    // Now and then somebody else asks at the same time.
    await Promise.all([this.#turn(next), ...(this.#random.chance(0.15) ? [this.#command(next, "nobody")] : [])]);
  }

  /** Whether the last request has no outcome. */
  #isUnanswered() {
    const last = this.#lastRequest();
    return last !== undefined && !existsSync(last.replace("request.json", "outcome.json"));
  }

  /**
   * Whoever was killed last has left its locks behind: they must not keep anybody out, and nothing more is sent.
   * @param {any} state
   */
  async #comeBack({ review, session_id }) {
    this.#disasters = 0;
    await this.#command(["next", review], "nobody");
    const provide = [bin, "review", "provide", "--state", this.sessions, "--session", session_id];
    const input = readFileSync(this.#lastRequest() ?? "");
    const { status, stdout } = spawnSync(process.execPath, provide, { input, encoding: "utf8" });
    const session = JSON.parse(readFileSync(join(this.sessions, session_id, "session.json"), "utf8"));
    if (status !== 0 || stdout.trimEnd() !== session.answered.response) {
      this.complaints.push(`the last request, sent again, is answered ${status}: ${stdout}`);
    }
  }

  /** Where it is; undefined before the first. */
  #lastRequest() {
    const turns = join(this.review ?? "", "turns");
    const last = existing(turns).findLast((name) => name.endsWith("request.json"));
    return last === undefined ? undefined : join(turns, last);
  }

  /** @param {readonly string[]} args */
  async #turn(args) {
    const beganMs = performance.now();
    const victim = this.#random.weighted(
      /** @type {const} */ ([
        [1, "nobody"],
        [2, "requester"],
        [2, "provider"],
        [1, "both"],
      ]),
    );
    const hit = await this.#command(args, victim);
    if (!hit) this.#turnMs = performance.now() - beganMs;
  }

  /**
   * @param {readonly string[]} args what follows `assay review`
   * @param {Victim} victim
   * @returns whether somebody was killed
   */
  async #command(args, victim) {
    const child = spawn(process.execPath, [bin, "review", ...args, "--dir", this.reviews, "--json"], {
      cwd: this.folder,
      stdio: "ignore",
      env: {
        ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("ASSAY_"))),
        ASSAY_REVIEW_RETRY_MS: "10",
        ASSAY_REVIEW_KILL_MS: "500",
      },
    });
    const ended = once(child, "exit").then(() => true);
    const hit = victim !== "nobody" && this.#disasters > 0 && (await this.#strike(victim, child, ended));
    await ended;
    return hit;
  }

  /**
   * @param {Exclude<Victim, "nobody">} victim
   * @param {import("node:child_process").ChildProcess} child
   * @param {Promise<boolean>} ended
   * @returns whether it met anybody
   */
  async #strike(victim, child, ended) {
    const isOver = () => child.exitCode !== null || child.signalCode !== null;
    if (victim === "requester") {
      // Between two of its writes is little time: a random moment would seldom meet it.
      if (this.#random.chance(0.5)) await this.#untilWritten(isOver);
      else await Promise.race([ended, sleep(this.#random.next() * this.#turnMs)]);
    } else {
      while (!isOver() && this.#provider() === undefined) await sleep(5);
      await Promise.race([ended, sleep((this.#random.next() * this.#turnMs) / 2)]);
    }
    const provider = victim === "requester" ? undefined : this.#provider();
    if (isOver() || (victim === "provider" && provider === undefined)) return false;
    if (victim !== "provider") child.kill("SIGKILL");
    if (provider !== undefined) kill(provider);
    this.kills[provider === undefined ? "requester" : victim]++;
    this.#disasters--;
    return true;
  }

  /**
   * Until there is one more file of a kind among the turns.
   * @param {() => boolean} isOver
   */
  async #untilWritten(isOver) {
    const kind = this.#random.pick(["request.json", "response.json", "outcome.json", "outcome.json"]);
    const count = () => existing(join(this.review ?? "", "turns")).filter((name) => name.endsWith(kind)).length;
    const before = count();
    while (!isOver() && count() === before) await sleep(1);
  }

  /** The process that answers just now. */
  #provider() {
    try {
      return Number(JSON.parse(readFileSync(join(this.review ?? "", "running.json"), "utf8")).pid);
    } catch {
      return undefined;
    }
  }
}

/** @param {number} pid */
function kill(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}

/** @param {string} dir */
function existing(dir) {
  try {
    return readdirSync(dir).sort();
  } catch {
    return [];
  }
}
