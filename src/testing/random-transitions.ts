import type { DeploymentTransition } from "../protocol/promotion/api.ts";

/** What happens in a case: a request of somebody, a decision of people, another policy, another content of a version. */
export type Move =
  | { readonly type: "send"; readonly by: number; readonly request: DeploymentTransition }
  | { readonly type: "vote"; readonly pick: number; readonly by: number; readonly grants: boolean }
  | { readonly type: "policy"; readonly asks: readonly string[] }
  | { readonly type: "install"; readonly version: string };

export const VERSIONS = ["1.0.0", "1.1.0", "2.0.0", "6.6.6"] as const;
export const STEPS = ["test", "staged", "active", "pause", "deprecate", "rollback", "adjust-canary"] as const;

/** Numbers that are the same in every run of the test. */
export function randomFrom(seed: number): (below: number) => number {
  let state = Math.imul(seed, 2654435761) >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

export type Random = ReturnType<typeof randomFrom>;

function pick<T>(next: Random, values: readonly T[]): T {
  return values[next(values.length)] as T;
}

/** One of three principals: who asks is mostly the first, and who decides another one. */
function mostly(next: Random, one: number): number {
  return next(6) ? one : next(3);
}

const SHARES = [0, 5, 10, 50, 100];

function randomRequest(next: Random, version: string): DeploymentTransition {
  const kind = next(20);
  if (kind < 10) {
    const channel =
      next(3) === 0
        ? {}
        : { channel: pick(next, ["stable", "stable", "canary", "canary", "canary", "latest", "nightly"]) };
    const share = next(2) ? {} : { canaryPercent: pick(next, SHARES) };
    return { version, transition: "promote", toState: "active", ...channel, ...share };
  }
  if (kind === 10)
    return { version, transition: "promote", toState: pick(next, ["test", "staged", "draft", "paused"]) };
  if (kind < 14) return { version, transition: "adjust-canary", canaryPercent: pick(next, SHARES) };
  if (kind < 17) return { version, transition: "pause" };
  if (kind < 19) return { version, transition: "rollback" };
  return { version, transition: next(3) ? "pause" : "deprecate" };
}

/** All versions are staged, and then everything happens in any order, also the same request again. */
export function randomMoves(next: Random, length: number): Move[] {
  const moves: Move[] = VERSIONS.flatMap((version) =>
    (["test", "staged"] as const).map((toState) => send({ version, transition: "promote", toState })),
  );
  const asks = next(4) > 0;
  if (asks) moves.push({ type: "policy", asks: STEPS.filter(() => next(2)) });
  while (moves.length < length) moves.push(...randomTurn(next, asks));
  return moves;
}

/** Something that happens by itself, or a request that people decide on and that is sent again, maybe when other things have happened. */
function randomTurn(next: Random, asks: boolean): Move[] {
  const kind = next(20);
  if (asks && kind === 0) return [{ type: "policy", asks: STEPS.filter(() => next(3) > 0) }];
  if (kind === 1 && next(4) === 0) return [{ type: "install", version: pick(next, VERSIONS) }];
  const request = randomRequest(next, pick(next, VERSIONS));
  const first = send(request, mostly(next, 0));
  if (!asks || kind < 8) return [first];
  const vote: Move = { type: "vote", pick: next(3) ? 0 : next(4), by: mostly(next, 1 + next(2)), grants: next(8) > 0 };
  const between = next(2) ? [] : Array.from({ length: 1 + next(3) }, () => randomTurn(next, kind < 16)).flat();
  return next(2)
    ? [first, vote, ...between, send(request, mostly(next, 0))]
    : [first, ...between, vote, send(request, mostly(next, 0))];
}

function send(request: DeploymentTransition, by = 0): Move {
  return { type: "send", by, request };
}

/** The fewest of the moves that still go wrong, for whoever reads of it. */
export function fewest(moves: readonly Move[], goesWrong: (moves: readonly Move[]) => boolean): readonly Move[] {
  for (let i = 0; i < moves.length; i++) {
    const fewer = moves.filter((_, at) => at !== i);
    if (goesWrong(fewer)) return fewest(fewer, goesWrong);
  }
  return moves;
}
