import type { Vote } from "./interrupt.ts";

/** The person a vote counts as: its voter, or the relay whose votes all count as one. */
function personOf({ voter, countsAs = voter }: Vote): string {
  return countsAs;
}

function makersOf({ makers = [] }: Vote): readonly string[] {
  return makers;
}

/** Two votes of one person, or of a principal and one in the chain of its makers. */
function areRelated(a: Vote, b: Vote): boolean {
  return personOf(a) === personOf(b) || makersOf(a).includes(personOf(b)) || makersOf(b).includes(personOf(a));
}

/** A vote cast with a person's own key. A relay's word for a person counts where the relay is trusted for it. */
export function isHuman({ voter, principal, kind, relayedPerson }: Vote): boolean {
  return relayedPerson === true || (kind === "user" && voter === principal);
}

/**
 * The largest part of the votes that are independent of each other. A principal that another one made does not count beside
 * its maker until an owner confirms it, so of a maker and those it made only the latter count. Where people are asked for,
 * the votes of people come first.
 */
export function countedVotes(votes: readonly Vote[], minHumans = 0): Vote[] {
  if (votes.every((vote) => makersOf(vote).length === 0)) return [...votes];
  const counted: Vote[] = [];
  for (const vote of votes.toSorted((a, b) => rankOf(b) - rankOf(a))) {
    if (!counted.some((other) => areRelated(vote, other))) counted.push(vote);
  }
  return counted;

  function rankOf(vote: Vote): number {
    const human = minHumans > 0 && isHuman(vote) ? 1_000_000 : 0;
    return human + makersOf(vote).length;
  }
}

/** Why a vote is not among those that count; undefined when it counts. `votes` are those of the same side. */
export function whyNotCounted(vote: Vote, votes: readonly Vote[], minHumans: number): string | undefined {
  const counted = countedVotes(votes, minHumans);
  if (counted.includes(vote)) return undefined;
  const other = counted.find((one) => areRelated(vote, one));
  if (other === undefined) return undefined;
  if (personOf(other) === personOf(vote)) {
    return `votes relayed by ${vote.principal} count as one until another owner confirms ${vote.principal}`;
  }
  const [made, maker] = makersOf(other).includes(personOf(vote)) ? [other, vote] : [vote, other];
  const name = personOf(made);
  return `the key of ${name} was made by ${personOf(maker)}: both count as one until another owner confirms ${name}`;
}

/**
 * How far a vote speaks for its voter: cast by the voter and not by a relay, with a person's key, with a key that no other
 * principal had in hand. One voter has one vote, and a weaker one never takes the place of a stronger one.
 */
export function strengthOf({
  voter,
  principal,
  kind,
  makers = [],
}: Pick<Vote, "voter" | "principal" | "kind" | "makers">) {
  return (voter === principal ? 4 : 0) + (kind === "user" ? 2 : 0) + (makers.length === 0 ? 1 : 0);
}
