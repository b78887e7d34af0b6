import { describe, expect, test } from "vitest";
import { codeOf, type Somebody, somebody } from "../../../testing/judges.ts";
import { pick, type Random, randomFrom } from "../../../testing/random-workflow.ts";
import { type Simulation, simulate } from "../../../testing/simulate.ts";
import { interruptOf } from "../../../testing/waiting-run.ts";
import { workflow } from "../../../testing/workflow.ts";

const GATES = 200;
const ACTS = 30;

/** The run is started by p1. */
const CROWD: readonly Somebody[] = [
  somebody("p1", { roles: ["owner"], mayRelay: true }),
  somebody("ana"),
  somebody("ben", { groups: ["finance"] }),
  somebody("chi", { roles: ["admin"], mayRelay: true }),
  somebody("dan", { roles: ["viewer"] }),
  somebody("bot", { kind: "agent" }),
  somebody("bat", { kind: "agent", roles: ["admin"] }),
];

/** What a rule book written the other way round says: nothing here is shared with the rules of the engine. */
interface Book {
  /** Undefined when it is taken, else the code it is refused with. */
  vote(who: Somebody, value: Readonly<Record<string, unknown>>): string | undefined;
  readonly end: "granted" | "rejected" | undefined;
}

interface Cast {
  readonly principal: string;
  readonly human: boolean;
  readonly action: string;
  readonly override?: boolean;
}

const inFavour = (action: string) => action === "accept" || action === "edit-accept";

function ended(cast: readonly Cast[], need: number, people: number, against: number): Book["end"] {
  if (cast.filter(({ action }) => !inFavour(action)).length >= against) return "rejected";
  const favour = cast.filter(({ action }) => inFavour(action));
  const persons = new Set(favour.filter(({ human }) => human).map(({ principal }) => principal));
  return favour.length >= Math.max(need, people) && persons.size >= people ? "granted" : undefined;
}

function plainBook(config: Readonly<Record<string, unknown>>): Book {
  const { requiredApprovals: need, rejectionPolicy, approversList, approverGroupRefs, minHumans } = config as never;
  const listed = [...(approversList as string[]), ...(approverGroupRefs as string[])];
  const against = rejectionPolicy === "majority" ? Math.floor(Math.max(need, minHumans) / 2) + 1 : 1;
  const own = listed.length > 0 || (minHumans as number) > 0 || config["forbidSelfApproval"] === true;
  let cast = new Map<string, Cast>();
  let artifact: unknown;
  const book = {
    end: undefined as Book["end"],
    vote({ principal, groups, kind, mayRelay }: Somebody, value: Readonly<Record<string, unknown>>) {
      if (book.end !== undefined) return "interrupt_already_resolved";
      if (listed.length > 0 && !listed.includes(principal) && !groups.some((one) => listed.includes(one))) {
        return "forbidden";
      }
      const voter = String(value["voter"] ?? principal);
      if (voter !== principal && (own || !mayRelay)) return "forbidden";
      const action = String(value["action"]);
      if (action === "ask") return undefined;
      if (config["forbidSelfApproval"] === true && principal === "p1" && inFavour(action)) return "forbidden";
      const edits = action === "edit-accept";
      if (cast.get(voter)?.action === action && (!edits || artifact === value["editedArtifactData"])) return undefined;
      if (edits) cast = new Map([...cast].filter(([, one]) => !inFavour(one.action)));
      if (edits) artifact = value["editedArtifactData"];
      cast.set(voter, { principal, human: kind === "user", action });
      book.end = ended([...cast.values()], need, minHumans, against);
      return undefined;
    },
  };
  return book;
}

function governedBook(config: Readonly<Record<string, unknown>>): Book {
  const { quorum, minHumans, overrideBypassesQuorum: bypass } = config as never;
  const rank = ["owner", "admin", "reviewer", "viewer"];
  const holds = ({ roles }: Somebody, role: string) => roles.some((one) => rank.indexOf(one) <= rank.indexOf(role));
  const cast = new Map<string, Cast>();
  const book = {
    end: undefined as Book["end"],
    vote(who: Somebody, value: Readonly<Record<string, unknown>>) {
      if (book.end !== undefined) return "interrupt_already_resolved";
      const override = value["override"] === true;
      if (!holds(who, override ? "admin" : "reviewer")) return "forbidden";
      if (override && value["reason"] === undefined) return "INVALID_RESUME_VALUE";
      const action = value["decision"] === "granted" ? "accept" : "reject";
      if (override && action === "reject") return "INVALID_RESUME_VALUE";
      if (action === "accept" && config["forbidSelfApproval"] === true && who.principal === "p1") return "forbidden";
      const earlier = cast.get(who.principal);
      if (earlier !== undefined && !(override && !earlier.override)) {
        return earlier.action === action ? undefined : "vote_conflict";
      }
      const human = who.kind === "user";
      cast.set(who.principal, { principal: who.principal, human, action, override });
      const people = [...cast.values()].filter((one) => one.human && inFavour(one.action)).length;
      const alone = override && bypass === true && people >= (minHumans as number);
      book.end = alone ? "granted" : ended([...cast.values()], quorum, minHumans, 1);
      return undefined;
    },
  };
  return book;
}

const oneOf = <T>(random: Random, ...items: T[]): T => pick(random, items);

function plainGate(random: Random) {
  const config = {
    actions: ["accept", "reject", "refine", "edit-accept", "ask"],
    requiredApprovals: oneOf(random, 1, 2, 3, 4),
    rejectionPolicy: oneOf(random, "single-veto", "majority"),
    approversList: oneOf(random, [], [], ["ana", "ben", "chi", "bot", "p1"]),
    approverGroupRefs: oneOf(random, [], [], ["finance"]),
    minHumans: oneOf(random, 0, 0, 1, 2),
    forbidSelfApproval: oneOf(random, true, false),
  };
  const value = () => {
    const action = oneOf(random, "accept", "accept", "accept", "reject", "refine", "edit-accept", "ask");
    return {
      action,
      ...(action === "refine" ? { refineFeedback: { scope: "whole" } } : {}),
      ...(action === "edit-accept" ? { editedArtifactData: oneOf(random, 1, 2) } : {}),
      ...(action === "ask" ? { question: "Why?" } : {}),
      ...(random() < 0.2 ? { voter: oneOf(random, "ana", "ben", "zoe") } : {}),
    };
  };
  return { typeId: "core.approvalGate", config, value, book: plainBook(config) };
}

function governedGate(random: Random) {
  const config = {
    requiredRole: "reviewer",
    quorum: oneOf(random, 1, 2, 3, 4),
    minHumans: oneOf(random, 0, 0, 1, 2),
    forbidSelfApproval: oneOf(random, true, false),
    override: { requiredRole: "admin" },
    overrideBypassesQuorum: oneOf(random, true, false),
  };
  const value = () => ({
    decision: random() < 0.85 ? "granted" : "rejected",
    ...(random() < 0.3 ? { override: true } : {}),
    ...(random() < 0.7 ? { reason: "Because." } : {}),
  });
  return { typeId: "core.openwop.governance.approvalGate", config, value, book: governedBook(config) };
}

describe.each([
  ["plain", plainGate],
  ["governed", governedGate],
])("a %s gate of any rules, whoever votes however often", (_, gateOf) => {
  test("takes, refuses and ends as the other rule book says", () => {
    const ends = new Map<string, number>();
    for (let seed = 1; seed <= GATES; seed++) {
      const random = randomFrom(seed);
      const { typeId, config, value, book } = gateOf(random);
      const run = simulate(workflow({ nodes: { gate: { typeId, config }, next: "core.noop" }, edges: ["gate>next"] }));
      run.turn();
      const acts = random() * ACTS;
      for (let act = 0; act < acts; act++) {
        const who = pick(random, CROWD);
        const given = value();
        const told = { seed, act, who: who.principal, given, code: codeOf(() => run.resolve("gate", given, who)) };
        expect({ ...told, end: endOf(run) }).toEqual({ ...told, code: book.vote(who, given), end: book.end });
      }
      run.go();
      expect(run.run.nodes["next"]?.status === "completed").toBe(book.end === "granted");
      ends.set(book.end ?? "open", (ends.get(book.end ?? "open") ?? 0) + 1);
    }
    // Otherwise the generator no longer makes what this test is for.
    expect([...ends.keys()].sort()).toEqual(["granted", "open", "rejected"]);
  });
});

function endOf(run: Simulation): Book["end"] {
  const { status, outcome } = interruptOf(run);
  if (status === "open") return undefined;
  return outcome === "granted" ? "granted" : "rejected";
}
