// @ts-check
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { EXPECTED, WORK } from "./script.js";

/**
 * What must hold at any moment, also right after a kill: a file that is there under its own name is there as a whole.
 * @param {string} folder
 * @returns {string[]} complaints
 */
export function brokenFiles(folder) {
  return filesIn(folder).flatMap((path) => {
    if (!/(state|session|request|response|outcome)\.json$/.test(path)) return [];
    try {
      JSON.parse(readFileSync(path, "utf8"));
      return [];
    } catch (error) {
      return existsSync(path) ? [`${path} is not whole: ${error}`] : [];
    }
  });
}

/**
 * What must hold when a conversation has ended, whatever happened on the way.
 * @param {{ review: string | undefined, sessions: string, folder: string }} talk
 * @returns {string[]} complaints
 */
export function verify(talk) {
  try {
    return complaintsAbout(talk);
  } catch (error) {
    return [`what is there cannot be read: ${error instanceof Error ? error.stack : error}`];
  }
}

/**
 * @param {{ review: string | undefined, sessions: string, folder: string }} talk
 * @returns {string[]}
 */
function complaintsAbout({ review, sessions, folder }) {
  /** @type {string[]} */
  const complaints = [];
  /** @type {(what: string, actual: unknown, expected: unknown) => void} */
  const same = (what, actual, expected) => {
    if (!isDeepStrictEqual(actual, expected)) {
      complaints.push(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
    }
  };
  if (review === undefined) return ["there is no review"];
  const state = read(join(review, "state.json"));
  same("the ending", [state.status, state.reason, state.next_iteration], ["converged", "no_remarks", WORK.length + 1]);

  const attempts = attemptsIn(join(review, "turns"));
  const answered = attempts.filter(({ outcome }) => outcome?.outcome === "response_success");
  const turns = WORK.map((_, i) => i + 1);
  same(
    "the answered turns",
    answered.map(({ request }) => request.iteration),
    turns,
  );
  for (const [i, { number, request }] of attempts.entries()) {
    same(`the place of attempt ${number}`, number, i + 1);
    const before = answered.filter((one) => one.number < number).length;
    same(`the turn that attempt ${number} sends`, request.iteration, before + 1);
    same(`what attempt ${number} sends`, request.artifact.content, WORK[before]);
    same(`what attempt ${number} sends, against its turn`, request, answered[before]?.request);
  }

  const session = read(join(sessions, state.session_id, "session.json"));
  same(
    "the turns that the provider has",
    session.turns.map((/** @type {any} */ one) => one.iteration),
    turns,
  );
  for (const [i, { response }] of answered.entries()) {
    same(`the answer to turn ${i + 1} on both sides`, response, JSON.parse(session.turns[i].response));
  }
  const log = readFileSync(join(review, "decisions.ndjson"), "utf8").trimEnd().split("\n");
  const logged = log.map((line) => JSON.parse(line));
  for (const { word, made, decided } of EXPECTED) {
    const about = (/** @type {{ id: string }} */ { id }) => id.includes(word);
    same(`the turns of ${word}`, state.remarks.filter(about).map(turnsOf), [made]);
    same(`the turns of ${word}, for the provider`, session.issued.filter(about).map(turnsOf), [made]);
    same(`the log of ${word}`, logged.filter(about).map(decisionOf), decided);
    same(
      `the acknowledgements of ${word}`,
      new Set(logged.filter(about).map(({ ack }) => ack)),
      new Set(["acknowledged"]),
    );
    same(`the decisions on ${word}, for the provider`, session.decisions.filter(about).map(decisionOf), decided);
  }
  const left = [...readdirSync(review), ...readdirSync(join(sessions, state.session_id))];
  same(
    "what is left lying about",
    left.filter((name) => /^(lock|running\.json)$|\.tmp$/.test(name)),
    [],
  );
  same("what is still running", runningFor(folder), []);
  return complaints;
}

/** @param {any} remark */
const turnsOf = ({ iterations }) => iterations;

/** @param {any} decision */
const decisionOf = ({ iteration, status }) => [iteration, status];

/** @param {string} turns */
function attemptsIn(turns) {
  const requests = readdirSync(turns).filter((name) => name.endsWith("-request.json"));
  return requests.sort().map((name) => {
    const file = (/** @type {string} */ what) => {
      const path = join(turns, name.replace("request", what));
      return existsSync(path) ? read(path) : undefined;
    };
    return {
      number: Number.parseInt(name, 10),
      request: file("request"),
      response: file("response"),
      outcome: file("outcome"),
    };
  });
}

/** @param {string} path */
function read(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function filesIn(folder) {
  return readdirSync(folder, { recursive: true }).map((path) => join(folder, String(path)));
}

/** Processes with something of this folder on their command line, where the system tells. @param {string} folder */
function runningFor(folder) {
  if (!existsSync("/proc/self")) return [];
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(basename(folder));
    } catch {
      return false;
    }
  });
}
