/** What belongs to a tape stands beside it; both names are appended to the whole name of the tape. */
export function sidecarOf(tape: string): string {
  return `${tape}.annotations.jsonl`;
}

export function bodiesOf(tape: string): string {
  return `${tape}.cas`;
}
