import { describe, expect, test } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import {
  type AgentDeployment,
  DEPLOYMENT_STATES,
  type DeploymentState,
  type DeploymentTransition,
  TRANSITIONS,
} from "../../protocol/promotion/api.ts";
import { decideTransition } from "./decide-transition.ts";
import { type Deployed, type Deployments, noDeployments, recordOf, stateOf } from "./deployments.ts";

const HASH = "a".repeat(64);
const GROUNDS = { agentHash: HASH };

type Change = Omit<DeploymentTransition, "version"> & { readonly version?: string };

/** One transition after the other, as they would be sent. */
function having(...changes: readonly Change[]): Deployments {
  return changes.reduce<Deployments>(
    (now, change) => decideTransition(now, { version: "2.0.0", ...change }, GROUNDS).next,
    noDeployments("local.test.echo"),
  );
}

function decide(now: Deployments, change: Change, grounds = GROUNDS) {
  return decideTransition(now, { version: "2.0.0", ...change }, grounds);
}

function refusal(now: Deployments, change: Change, grounds = GROUNDS): string {
  try {
    decide(now, change, grounds);
  } catch (error) {
    if (error instanceof AppError && error.code === "validation_error") return String(error.details["problem"]);
    throw error;
  }
  throw new Error("it was not refused");
}

const to = (toState: DeploymentState, more: Partial<Change> = {}): Change => ({
  transition: "promote",
  toState,
  ...more,
});
const active = (version: string, more: Partial<Change> = {}): Change[] => [
  to("test", { version }),
  to("staged", { version }),
  to("active", { version, ...more }),
];
const record = (now: Deployments, version = "2.0.0"): AgentDeployment => recordOf(now, version);

/** 1.0.0 serves, and 2.0.0 is in this state. */
function with2In(state: DeploymentState): Deployments {
  const before = having(...active("1.0.0"));
  if (state === "draft") return before;
  const second: Deployed = { state, agentHash: HASH, replaced: "1.0.0" };
  const serves = state === "active" || state === "paused";
  const channels: Deployments["channels"] = serves ? { stable: ["2.0.0"] } : before.channels;
  return { ...before, versions: { ...before.versions, "2.0.0": second }, channels };
}

/** Every move there is; what is not in here is not one. */
const LEGAL: readonly (readonly [DeploymentState, Change, DeploymentState])[] = [
  ["draft", to("test"), "test"],
  ["test", to("staged"), "staged"],
  ["staged", to("active"), "active"],
  ["paused", to("active"), "active"],
  ["active", { transition: "pause" }, "paused"],
  ["active", { transition: "pause", toState: "paused" }, "paused"],
  ["active", { transition: "deprecate" }, "deprecated"],
  ["active", { transition: "deprecate", toState: "deprecated" }, "deprecated"],
  ["active", { transition: "rollback" }, "rolled-back"],
  ["active", { transition: "rollback", toState: "rolled-back" }, "rolled-back"],
];

describe("a transition of a version", () => {
  test.each(LEGAL)("from %s by %j leads to %s", (from, change, expected) => {
    expect(stateOf(decide(with2In(from), change).next, "2.0.0")).toBe(expected);
  });

  const key = (from: DeploymentState, { transition, toState }: Change) => `${from} ${transition} ${toState ?? ""}`;
  const legal = new Set(LEGAL.map(([from, change]) => key(from, change)));
  const all = DEPLOYMENT_STATES.flatMap((from) =>
    TRANSITIONS.flatMap((transition) =>
      [undefined, ...DEPLOYMENT_STATES].map((toState): [DeploymentState, Change] => [
        from,
        { transition, ...(toState === undefined ? {} : { toState }) },
      ]),
    ),
  );
  const illegal = all.filter(([from, change]) => !legal.has(key(from, change)));

  test(`that is any other of the ${illegal.length} there could be is refused, and changes nothing`, () => {
    expect(illegal).toHaveLength(7 * 5 * 8 - LEGAL.length);
    for (const [from, change] of illegal) {
      const before = with2In(from);
      const text = JSON.stringify(before);
      expect(refusal(before, change), key(from, change)).not.toBe("");
      expect(JSON.stringify(before)).toBe(text);
    }
  });

  test("says which moves there are when it is none of them", () => {
    expect(refusal(with2In("draft"), to("active"))).toBe(
      "2.0.0 is draft: it can be promoted to test, and not be promoted to active",
    );
    expect(refusal(with2In("deprecated"), to("active"))).toContain("install another version");
    expect(refusal(with2In("paused"), { transition: "pause" })).toContain("pause is for active versions");
  });

  test("is told by one event with ids, states and percents in it", () => {
    const grounds = { ...GROUNDS, evalRunId: "run-1", approvalGateId: "gate-run-2" };
    const before = having(...active("1.0.0"), to("test"), to("staged"));
    expect(decide(before, to("active", { canaryPercent: 10 }), grounds).events).toEqual([
      {
        type: "deployment.promoted",
        payload: {
          agentId: "local.test.echo",
          toVersion: "2.0.0",
          toState: "active",
          fromVersion: "1.0.0",
          channel: "stable",
          canaryPercent: 10,
          evalRunId: "run-1",
          approvalGateId: "gate-run-2",
        },
      },
    ]);
    expect(decide(with2In("active"), { transition: "pause" }).events).toEqual([
      {
        type: "deployment.state.changed",
        payload: { agentId: "local.test.echo", version: "2.0.0", fromState: "active", toState: "paused" },
      },
    ]);
  });

  test("keeps what the last promotion rested on, and no longer than that", () => {
    const proven = decide(having(to("test")), to("staged"), { ...GROUNDS, evalRunId: "run-1" } as typeof GROUNDS).next;
    expect(record(proven)).toMatchObject({ evalRunId: "run-1" });
    const serving = decide(proven, to("active"), { ...GROUNDS, approvalGateId: "gate-1" } as typeof GROUNDS).next;
    expect(record(serving)).toEqual({
      agentId: "local.test.echo",
      version: "2.0.0",
      state: "active",
      channels: ["stable"],
      approvalGateId: "gate-1",
    });
    expect(record(decide(serving, { transition: "pause" }).next)).not.toHaveProperty("approvalGateId");
  });

  test("of something else under the same version is refused", () => {
    expect(refusal(having(to("test")), to("staged"), { agentHash: "b".repeat(64) })).toContain(
      "is not what was promoted before",
    );
  });
});

describe("a channel", () => {
  test("is the version that was put there last, alone when it takes everything", () => {
    const now = having(...active("1.0.0"), ...active("2.0.0"));
    expect(now.channels).toEqual({ stable: ["2.0.0"] });
    expect(record(now, "1.0.0")).toEqual({ agentId: "local.test.echo", version: "1.0.0", state: "active" });
  });

  test("is shared while the newer version has a share of it", () => {
    const now = having(...active("1.0.0"), ...active("2.0.0", { canaryPercent: 10 }));
    expect(now.channels).toEqual({ stable: ["2.0.0", "1.0.0"] });
    expect(record(now)).toMatchObject({ canaryPercent: 10, channels: ["stable"] });
  });

  test("has no share that leaves the rest to nobody", () => {
    expect(refusal(having(to("test"), to("staged")), to("active", { canaryPercent: 10 }))).toBe(
      "no other version is active on stable to serve the other 90 %",
    );
    const alone = having(...active("2.0.0"));
    expect(refusal(alone, { transition: "adjust-canary", canaryPercent: 50 })).toContain("no other version is active");
  });

  test("that nobody knows takes nothing, and neither does latest", () => {
    const staged = having(to("test"), to("staged"));
    expect(refusal(staged, to("active", { channel: "nightly" }))).toBe(
      "there is no channel nightly here; there are stable and canary",
    );
    expect(refusal(staged, to("active", { channel: "latest" }))).toContain("nothing is put there");
  });

  test("can be one of several, with one share on all of them", () => {
    const now = having(...active("2.0.0", { channel: "canary" }), to("active", { channel: "stable" }));
    expect(record(now)).toMatchObject({ channels: ["canary", "stable"] });
    expect(refusal(now, to("active", { channel: "stable" }))).toContain("is active already");
    const one = having(...active("1.0.0"), ...active("2.0.0", { channel: "canary" }));
    expect(refusal(one, to("active", { channel: "stable", canaryPercent: 5 }))).toContain("one share counts");
  });

  test("keeps the place of a version that is paused, and gives it back", () => {
    const before = having(...active("1.0.0"), ...active("2.0.0"));
    const paused = decide(before, { transition: "pause" }).next;
    expect(paused.channels).toEqual({ stable: ["2.0.0"] });
    expect(decide(paused, to("active")).next.channels).toEqual({ stable: ["2.0.0"] });
  });

  test("gets a version back that was paused only with all that it served, and nothing beside", () => {
    const now = having(
      ...active("1.0.0"),
      ...active("1.1.0", { channel: "canary" }),
      ...active("2.0.0", { canaryPercent: 5 }),
    );
    const paused = decide(now, { transition: "pause" }).next;
    for (const share of [{}, { canaryPercent: 100 }]) {
      const elsewhere = to("active", { channel: "canary", ...share });
      expect(refusal(paused, elsewhere)).toContain("2.0.0 comes back on stable, where it was paused");
    }
    expect(record(decide(paused, to("active", { channel: "stable" })).next)).toMatchObject({ canaryPercent: 5 });
  });

  test("is left by a version that is deprecated", () => {
    expect(having(...active("2.0.0"), { transition: "deprecate" }).channels).toEqual({});
  });

  test("goes with a promotion to active, and with nothing else", () => {
    expect(refusal(having(), to("test", { channel: "stable" }))).toContain("go with a promotion to active");
    expect(refusal(with2In("active"), { transition: "pause", channel: "stable" })).toBe("channel goes with promote");
    expect(refusal(with2In("active"), { transition: "rollback", canaryPercent: 5 })).toContain(
      "canaryPercent goes with",
    );
  });
});

describe("another share", () => {
  const shared = having(...active("1.0.0"), ...active("2.0.0", { canaryPercent: 10 }));

  test("is told with the one before", () => {
    const { events, next } = decide(shared, { transition: "adjust-canary", canaryPercent: 50 });
    expect(events).toEqual([
      {
        type: "deployment.canary.adjusted",
        payload: { agentId: "local.test.echo", version: "2.0.0", fromPercent: 10, toPercent: 50 },
      },
    ]);
    expect(record(next)).toMatchObject({ canaryPercent: 50 });
  });

  test("of everything leaves the other version without the channel, and the way back to it stays", () => {
    const whole = decide(shared, { transition: "adjust-canary", canaryPercent: 100 }).next;
    expect(whole.channels).toEqual({ stable: ["2.0.0"] });
    expect(record(whole)).not.toHaveProperty("canaryPercent");
    expect(decide(whole, { transition: "rollback" }).next.channels).toEqual({ stable: ["1.0.0"] });
    expect(decide(whole, { transition: "adjust-canary", canaryPercent: 20 }).next.channels).toEqual({
      stable: ["2.0.0", "1.0.0"],
    });
  });

  test("that is the same, or is not named, is refused", () => {
    expect(refusal(shared, { transition: "adjust-canary", canaryPercent: 10 })).toBe("2.0.0 has 10 % already");
    expect(refusal(shared, { transition: "adjust-canary" })).toBe("adjust-canary needs canaryPercent");
  });
});

describe("the way back", () => {
  test("leads to the version whose place was taken, and nowhere where it took nobody's", () => {
    const before = having(...active("1.0.0"), ...active("2.0.0"), to("active", { channel: "canary" }));
    const { next, events } = decide(before, { transition: "rollback", reason: "latency-regression" });
    expect(next.channels).toEqual({ stable: ["1.0.0"] });
    expect(record(next)).toMatchObject({ state: "rolled-back", rollbackPointer: "1.0.0" });
    expect(record(next)).not.toHaveProperty("channels");
    expect(events).toEqual([
      {
        type: "deployment.rolled-back",
        payload: {
          agentId: "local.test.echo",
          fromVersion: "2.0.0",
          toVersion: "1.0.0",
          rollbackPointer: "1.0.0",
          reason: "latency-regression",
        },
      },
    ]);
  });

  describe.each([
    ["stable", "canary"],
    ["canary", "stable"],
  ])("from %s and %s, in this order", (first, second) => {
    const tried = active("1.1.0", { channel: "canary" });
    const both = [...active("2.0.0", { channel: first }), to("active", { channel: second })];
    const now = having(...active("1.0.0"), ...tried, ...both);

    test("brings back on each channel who was there, and nobody on a channel where he never was", () => {
      const { next, events, other } = decide(now, { transition: "rollback" });
      expect(next.channels).toEqual({ canary: ["1.1.0"], stable: ["1.0.0"] });
      expect(events.map(({ payload }) => (payload as { toVersion: string }).toVersion)).toEqual(["1.0.0", "1.1.0"]);
      expect(record(next)).toMatchObject({ rollbackPointer: "1.0.0" });
      expect(other).toBe("1.0.0 on stable, 1.1.0 on canary");
    });

    test("and a smaller share leaves the rest of each channel to who was there", () => {
      const half = decide(now, { transition: "adjust-canary", canaryPercent: 50 }).next;
      expect(half.channels).toEqual({ canary: ["2.0.0", "1.1.0"], stable: ["2.0.0", "1.0.0"] });
    });

    test("is refused where one of them cannot come back", () => {
      const over = decide(now, { version: "1.1.0", transition: "deprecate" }).next;
      expect(refusal(over, { transition: "rollback" })).toContain("1.1.0, which is deprecated by now");
    });
  });

  test("is known of a version on one channel where it was kept without the channel", () => {
    const one = with2In("active");
    expect(decide(one, { transition: "rollback" }).next.channels).toEqual({ stable: ["1.0.0"] });
    const joined = decide(one, to("active", { channel: "canary" })).next;
    expect(decide(joined, { transition: "rollback" }).next.channels).toEqual({ stable: ["1.0.0"] });
    const two = { ...one, channels: { canary: ["2.0.0"], stable: ["2.0.0"] } };
    expect(refusal(two, { transition: "rollback" })).toContain("replaced no version");
  });

  test("has no prose in its event", () => {
    const [event] = decide(with2In("active"), { transition: "rollback", reason: "Ada says: it is slow!" }).events;
    expect(event?.payload).not.toHaveProperty("reason");
  });

  test("from a share leaves the other version with everything", () => {
    const shared = having(...active("1.0.0"), ...active("2.0.0", { canaryPercent: 10 }));
    const { next } = decide(shared, { transition: "rollback" });
    expect(next.channels).toEqual({ stable: ["1.0.0"] });
    expect(record(next)).not.toHaveProperty("canaryPercent");
  });

  test("passes by versions that had a share only, and restores who carried the channel", () => {
    const now = having(...active("1.0.0"), ...active("1.5.0", { canaryPercent: 10 }), ...active("2.0.0"));
    expect(decide(now, { transition: "rollback" }).next.channels).toEqual({ stable: ["1.0.0"] });
  });

  test("gives nobody all of a channel who was there for a share of it", () => {
    const shared = having(...active("1.0.0"), ...active("1.5.0", { canaryPercent: 10 }));
    const alone = decide(shared, { version: "1.0.0", transition: "pause" }).next;
    const now = active("2.0.0").reduce((so, step) => decide(so, step).next, alone);
    expect(refusal(now, { transition: "rollback" })).toContain("replaced no version");
  });

  test("brings a paused version back, and says so", () => {
    const paused = having(...active("1.0.0"), ...active("2.0.0"), { version: "1.0.0", transition: "pause" });
    const { next, events } = decide(paused, { transition: "rollback" });
    expect(stateOf(next, "1.0.0")).toBe("active");
    expect(events.map(({ type }) => type)).toEqual(["deployment.rolled-back", "deployment.state.changed"]);
  });

  test("leads nowhere where nobody's place was taken, or where that version is over", () => {
    expect(refusal(having(...active("2.0.0")), { transition: "rollback" })).toContain("replaced no version");
    const over = having(...active("1.0.0"), ...active("2.0.0"), { version: "1.0.0", transition: "deprecate" });
    expect(refusal(over, { transition: "rollback" })).toContain("1.0.0, which is deprecated by now");
  });
});
