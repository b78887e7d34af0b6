import type { Vote } from "./interrupt.ts";

/** The person a vote counts as: its voter, or the relay whose votes all count as one. */
function personOf({ voter, countsAs = voter }: Vote): string {
  return countsAs;
}

function makersOf({ makers = [] }: Vote): readonly string[] {
  return makers;
}

/** A vote cast with a person's own key. A relay's word for a person counts where the relay is trusted for it. */
export function isHuman({ voter, principal, kind, relayedPerson }: Vote): boolean {
  return relayedPerson === true || (kind === "user" && voter === principal);
}

/**
 * The largest set of votes that are independent of each other. A principal that another one made does not count together with
 * its maker until an owner confirms it, so of a maker and those it made only the latter count. Where people are asked for,
 * the votes of people come first.
 */
export function countedVotes(votes: readonly Vote[], minHumans = 0): Vote[] {
  if (votes.every((vote) => makersOf(vote).length === 0)) return [...votes];
  const counted = new CountedVotes();
  for (const vote of votes.toSorted((a, b) => rankOf(b) - rankOf(a))) {
    if (counted.relatedTo(vote) === undefined) counted.add(vote);
  }
  return counted.votes;

  function rankOf(vote: Vote): number {
    const human = minHumans > 0 && isHuman(vote) ? 1_000_000 : 0;
    return human + makersOf(vote).length;
  }
}

/**
 * Votes that count, found by the names of those they count as and of their makers: a gate may have thousands of votes, and whether two of
 * them are related is asked of each. Related are two votes of one person, or of a principal and one in the chain of its makers.
 */
class CountedVotes {
  readonly votes: Vote[] = [];
  /** The places of the votes, by person. */
  readonly #ofPerson = new Map<string, number>();
  /** The first place of a vote that the person is a maker of. */
  readonly #madeBy = new Map<string, number>();

  add(vote: Vote): void {
    const place = this.votes.push(vote) - 1;
    this.#ofPerson.set(personOf(vote), place);
    for (const maker of makersOf(vote)) if (!this.#madeBy.has(maker)) this.#madeBy.set(maker, place);
  }

  /** The first of the votes that is related to this one. */
  relatedTo(vote: Vote): Vote | undefined {
    const person = personOf(vote);
    let first = Math.min(this.#ofPerson.get(person) ?? Infinity, this.#madeBy.get(person) ?? Infinity);
    for (const maker of makersOf(vote)) first = Math.min(first, this.#ofPerson.get(maker) ?? Infinity);
    return this.votes[first];
  }
}

/** Why votes are not among those that count; a vote that counts is not in it. `votes` are those of the same side. */
export function uncountedReasons(votes: readonly Vote[], minHumans: number): ReadonlyMap<Vote, string> {
  const why = new Map<Vote, string>();
  const counted = new CountedVotes();
  for (const vote of countedVotes(votes, minHumans)) counted.add(vote);
  const counts = new Set(counted.votes);
  for (const vote of votes) {
    const other = counts.has(vote) ? undefined : counted.relatedTo(vote);
    if (other !== undefined) why.set(vote, uncountedReason(vote, other));
  }
  return why;
}

function uncountedReason(vote: Vote, other: Vote): string {
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
