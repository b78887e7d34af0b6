import { describe, expect, test } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import type { DeploymentTransition } from "../../protocol/promotion/api.ts";
import { decideTransition } from "./decide-transition.ts";
import { type Deployments, noDeployments, stateOf } from "./deployments.ts";

/** The shortest sequences by which something came to serve that nobody had approved for it; found by `transitions-random.test.ts`. */
const [A, B, C] = ["1.0.0", "2.0.0", "3.0.0"];
const GROUNDS = { agentHash: "a".repeat(64) };

function done(now: Deployments, ...requests: readonly DeploymentTransition[]): Deployments {
  return requests.reduce((so, request) => decideTransition(so, request, GROUNDS).next, now);
}

function having(...requests: readonly DeploymentTransition[]): Deployments {
  const staged = [A, B, C].flatMap((version) =>
    (["test", "staged"] as const).map((toState) => ({ version, transition: "promote" as const, toState })),
  );
  return done(noDeployments("local.test.echo"), ...staged, ...requests);
}

function refusal(now: Deployments, request: DeploymentTransition): unknown {
  try {
    return decideTransition(now, request, GROUNDS);
  } catch (error) {
    if (error instanceof AppError && error.code === "validation_error") return error.details["problem"];
    throw error;
  }
}

const on = (channel: string, version: string, canaryPercent?: number): DeploymentTransition => ({
  version,
  transition: "promote",
  toState: "active",
  channel,
  ...(canaryPercent === undefined ? {} : { canaryPercent }),
});
const resume = (version: string): DeploymentTransition => ({ version, transition: "promote", toState: "active" });
const pause = (version: string): DeploymentTransition => ({ version, transition: "pause" });
const rollback = (version: string): DeploymentTransition => ({ version, transition: "rollback" });
const deprecate = (version: string): DeploymentTransition => ({ version, transition: "deprecate" });
const share = (version: string, canaryPercent: number): DeploymentTransition => ({
  version,
  transition: "adjust-canary",
  canaryPercent,
});

describe("a version that was paused", () => {
  test("and has no place any more comes to no channel that nobody named", () => {
    const now = having(on("canary", A), pause(A), on("canary", B), on("stable", C));
    expect(refusal(now, resume(A))).toBe("1.0.0 has no place to come back to: name the channel that it is to come to");
    expect(done(now, on("canary", A)).channels).toEqual({ canary: [A], stable: [C] });
  });

  test("and comes back for everything leaves nobody behind it who would stand in for it", () => {
    const now = having(on("stable", A), on("stable", B, 10), pause(B), { ...resume(B), canaryPercent: 100 });
    expect(now.channels).toEqual({ stable: [B] });
    expect(done(now, rollback(B)).channels).toEqual({ stable: [A] });
  });
});

describe("a rollback", () => {
  test("of a version that serves nobody ends no pause", () => {
    const now = having(on("stable", A), on("stable", B), pause(A), on("stable", C), rollback(B));
    expect(stateOf(now, A)).toBe("paused");
    expect(now.channels).toEqual({ stable: [C] });
  });

  test("on one channel ends no pause on another", () => {
    const now = having(on("stable", A), on("canary", A), on("stable", B), pause(A));
    expect(refusal(now, rollback(B))).toBe(
      "2.0.0 took the place of 1.0.0, which is paused on canary too; promote 1.0.0 to active first, or pause 2.0.0",
    );
    expect(done(now, resume(A), rollback(B)).channels).toEqual({ canary: [A], stable: [A] });
  });

  test("of a share leaves the channel to who carries it by now", () => {
    const now = having(on("stable", A), on("stable", B, 10), on("stable", C, 10), share(B, 100), rollback(C));
    expect(now.channels).toEqual({ stable: [B] });
  });

  test("brings back for everything nobody who had a share when the place was taken", () => {
    const now = having(on("stable", A), on("stable", B, 10), pause(A), on("stable", C), share(B, 100));
    expect(refusal(now, rollback(C))).toContain("replaced no version");
  });

  test("brings back who was there when the version came last, and nobody from before", () => {
    const now = having(on("stable", A), on("stable", B), pause(B), on("stable", C), deprecate(C), on("stable", B));
    expect(refusal(now, rollback(B))).toContain("replaced no version");
  });

  test("leaves no channel to who has a share of it", () => {
    const now = having(on("stable", A), on("stable", B), on("stable", A), share(A, 5), pause(A));
    expect(refusal(now, rollback(B))).toContain(
      "1.0.0, which has a share of 5 % and no version to serve the rest on stable",
    );
  });
});

describe("another share", () => {
  test("leaves the rest to a version that takes all of it", () => {
    const now = having(on("stable", A), on("stable", B), share(A, 5));
    expect(refusal(now, share(B, 50))).toBe("no other version is active on stable to serve the other 50 %");
  });

  test("brings nobody back in the place of one that is paused", () => {
    const now = having(on("stable", A), on("stable", B), on("stable", C, 10), pause(B));
    expect(refusal(now, share(C, 5))).toContain("no other version is active on stable");
  });

  test("of everything is taken back to who carried the channel, past those with a share", () => {
    const now = having(on("stable", A), on("stable", B, 10), on("stable", C, 20), share(C, 100), rollback(C));
    expect(now.channels).toEqual({ stable: [A] });
  });
});

describe("in an incident", () => {
  test("every active version can be paused, also the only one and one without a channel", () => {
    const now = having(on("stable", A), on("stable", B, 10), on("canary", C));
    for (const version of [A, B, C]) expect(stateOf(done(now, pause(version)), version)).toBe("paused");
    expect(stateOf(having(on("stable", A), on("stable", B), pause(A)), A)).toBe("paused");
  });

  test("one rollback after the other leads back to where it began", () => {
    const now = having(on("stable", A), on("stable", B), on("stable", C, 50), share(C, 100));
    const back = done(now, rollback(C));
    expect(back.channels).toEqual({ stable: [B] });
    expect(done(back, rollback(B)).channels).toEqual({ stable: [A] });
  });
});
